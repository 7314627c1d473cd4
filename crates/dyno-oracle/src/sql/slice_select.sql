-- Counts the rows of each range, one statement execution per range. :list holds the first keys, 12 digits each.
-- Needs: the tables of schema {n}, own. Returns: rows counted, in :selected.
DECLARE
  list      VARCHAR2(32767) := :list;
  work_unit PLS_INTEGER := :work_unit;
  place     PLS_INTEGER := 1;
  first_key NUMBER;
  found_rows   NUMBER;
  selected  NUMBER := 0;
BEGIN
  WHILE place < LENGTH(list) LOOP
    first_key := TO_NUMBER(SUBSTR(list, place, 12));
    SELECT /*+ INDEX(t dyno_rows_{n}_custid) */ COUNT(c2) INTO found_rows
      FROM dyno_rows_{n} t
     WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
    selected := selected + found_rows;
    place := place + 12;
  END LOOP;
  :selected := selected;
END;
