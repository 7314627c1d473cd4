DROP TABLE steady_rows;
