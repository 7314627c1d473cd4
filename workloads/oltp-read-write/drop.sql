DROP TABLE oltp_rows;
