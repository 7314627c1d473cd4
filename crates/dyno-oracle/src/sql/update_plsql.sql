-- The same with its commit, in one call: workload.commit = "plsql". PL/SQL waits for the redo once, when the call ends.
-- Needs: the tables of schema {n}, own. Returns: rows updated, in :changed.
BEGIN
  UPDATE /*+ INDEX(t dyno_rows_{n}_custid) */ dyno_rows_{n} t
     SET ver = ver + 1, {set}
   WHERE custid BETWEEN :first_key AND :last_key;
  :changed := SQL%ROWCOUNT;
  COMMIT;
END;
