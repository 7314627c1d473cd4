-- Reads the row of one key.
-- Needs: the tables of schema {n}, own. Returns: one row with c2; none if the key is not there.
SELECT /*+ INDEX(t dyno_rows_{n}_custid) */ c2
  FROM dyno_rows_{n} t
 WHERE custid = :key
