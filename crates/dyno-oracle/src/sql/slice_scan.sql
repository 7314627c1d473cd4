-- Counts the rows of the table without an index, :times times.
-- Needs: the tables of schema {n}, own. Returns: rows counted, in :scanned.
DECLARE
  times   PLS_INTEGER := :times;
  found_rows NUMBER;
  scanned NUMBER := 0;
BEGIN
  FOR i IN 1 .. times LOOP
    SELECT /*+ FULL(t) NO_PARALLEL(t) */ COUNT(c2) INTO found_rows FROM dyno_scan_{n} t;
    scanned := scanned + found_rows;
  END LOOP;
  :scanned := scanned;
END;
