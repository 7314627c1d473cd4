DROP TABLE ts_points;
DROP TABLE ts_series;
