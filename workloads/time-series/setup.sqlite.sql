-- 100 series with 100 points each.
CREATE TABLE ts_series (series INT NOT NULL PRIMARY KEY, points BIGINT NOT NULL);
CREATE TABLE ts_points (
  id INTEGER PRIMARY KEY,
  series INT NOT NULL,
  moment TIMESTAMP NOT NULL,
  reading DOUBLE PRECISION NOT NULL
);
CREATE TABLE ts_digits (d INT NOT NULL PRIMARY KEY);
INSERT INTO ts_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO ts_series SELECT 1 + a.d + 10 * b.d, 100 FROM ts_digits a, ts_digits b;
INSERT INTO ts_points (series, moment, reading)
SELECT s.series, CURRENT_TIMESTAMP, 20.5 FROM ts_digits a, ts_digits b, ts_series s;
CREATE INDEX ts_points_of_series ON ts_points (series, id);
DROP TABLE ts_digits;
