-- Counts the rows of each value of the secondary key, one statement execution per value. :list holds the values, 12 digits each.
-- Needs: the tables of schema {n}, own, loaded with a secondary key. Returns: rows counted, in :by_secondary.
DECLARE
  list         VARCHAR2(32767) := :list;
  place        PLS_INTEGER := 1;
  wanted       NUMBER;
  found_rows   NUMBER;
  by_secondary NUMBER := 0;
BEGIN
  WHILE place < LENGTH(list) LOOP
    wanted := TO_NUMBER(SUBSTR(list, place, 12));
    SELECT /*+ INDEX(t dyno_rows_{n}_sec) */ COUNT(c2) INTO found_rows
      FROM dyno_rows_{n} t
     WHERE sec = wanted;
    by_secondary := by_secondary + found_rows;
    place := place + 12;
  END LOOP;
  :by_secondary := by_secondary;
END;
