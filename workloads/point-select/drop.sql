DROP TABLE points_rows;
