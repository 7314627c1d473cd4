-- Counts the rows of a key range; c2 is in no index, so each row's block is visited.
-- Needs: the tables of schema {n}, own. Returns: one row, one number.
SELECT /*+ INDEX(t dyno_rows_{n}_custid) */ COUNT(c2) AS row_count
  FROM dyno_rows_{n} t
 WHERE custid BETWEEN :first_key AND :last_key
