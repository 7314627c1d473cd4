-- 10,000 rows, one in each slot.
CREATE TABLE steady_rows (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  slot INT NOT NULL UNIQUE,
  shelf INT NOT NULL,
  payload VARCHAR(200) NOT NULL
);
CREATE TABLE steady_digits (d INT NOT NULL PRIMARY KEY);
INSERT INTO steady_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO steady_rows (slot, shelf, payload)
SELECT n.slot, n.slot % 100 + 1, 'from the beginning' FROM (SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS slot FROM steady_digits a, steady_digits b, steady_digits c, steady_digits e) n;
CREATE INDEX steady_rows_shelf ON steady_rows (shelf);
DROP TABLE steady_digits;
