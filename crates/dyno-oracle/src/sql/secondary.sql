-- Counts the rows of one value of the secondary key; c2 is in no index, so each row's block is visited.
-- Needs: the tables of schema {n}, own, loaded with a secondary key. Returns: one row, one number.
SELECT /*+ INDEX(t dyno_rows_{n}_sec) */ COUNT(c2) AS row_count
  FROM dyno_rows_{n} t
 WHERE sec = :value
