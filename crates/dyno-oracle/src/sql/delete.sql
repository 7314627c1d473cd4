-- Deletes the row of one key, which the session has inserted. The commit is a call of its own.
-- Needs: the tables of schema {n}, own. Returns: rows deleted.
DELETE /*+ INDEX(t dyno_rows_{n}_custid) */ FROM dyno_rows_{n} t WHERE custid = :key
