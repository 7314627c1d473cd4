-- Counts the rows of a key range, whatever they hold: reads back what an update has left.
-- Needs: the tables of schema {n}, own. Returns: one row, one number.
SELECT COUNT(*) AS there
  FROM dyno_rows_{n}
 WHERE custid BETWEEN :first_key AND :last_key
