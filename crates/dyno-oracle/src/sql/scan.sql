-- Counts the rows of the table without an index, with one process.
-- Needs: the tables of schema {n}, own. Returns: one row, one number.
SELECT /*+ FULL(t) NO_PARALLEL(t) */ COUNT(c2) AS row_count
  FROM dyno_scan_{n} t
