-- The same with its commit, in one call: workload.commit = "plsql".
-- Needs: the tables of schema {n}, own. Returns: rows deleted, in :changed.
BEGIN
  DELETE /*+ INDEX(t dyno_rows_{n}_custid) */ FROM dyno_rows_{n} t WHERE custid = :key;
  :changed := SQL%ROWCOUNT;
  COMMIT;
END;
