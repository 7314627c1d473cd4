-- The same with its commit, in one call: workload.commit = "plsql".
-- Needs: the tables of schema {n}, own. Returns: rows inserted, in :changed.
BEGIN
  INSERT INTO dyno_rows_{n} (custid, ver, {names}) VALUES (:key, 0, {binds});
  :changed := SQL%ROWCOUNT;
  COMMIT;
END;
