-- Reads the row of each key, one statement execution per key. :list holds the keys, 12 digits each.
-- Needs: the tables of schema {n}, own. Returns: rows found, in :looked_up.
DECLARE
  list      VARCHAR2(32767) := :list;
  place     PLS_INTEGER := 1;
  wanted    NUMBER;
  found     VARCHAR2(128);
  looked_up NUMBER := 0;
BEGIN
  WHILE place < LENGTH(list) LOOP
    wanted := TO_NUMBER(SUBSTR(list, place, 12));
    BEGIN
      SELECT /*+ INDEX(t dyno_rows_{n}_custid) */ c2 INTO found
        FROM dyno_rows_{n} t
       WHERE custid = wanted;
      looked_up := looked_up + 1;
    EXCEPTION
      WHEN NO_DATA_FOUND THEN NULL;
    END;
    place := place + 12;
  END LOOP;
  :looked_up := looked_up;
END;
