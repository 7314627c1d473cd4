-- Does operations of several classes in their order, updates as in slice_update; a row that is inserted has new values in all
-- columns ({values}). :list holds for each operation its kind (0 select, 1 lookup, 2 scan, 3 update, 4 lookup by the secondary
-- key, 5 insert, 6 delete), its first key or value of the secondary key, its number and a hash: 1, 12, 16 and 14 digits.
-- Needs: the tables of schema {n}, own; dyno_scan_{n} is named by {scan}, and sec by {secondary}, only where the data has them.
-- Returns: rows and commits, in :selected, :looked_up, :scanned, :by_secondary, :updated, :inserted, :deleted and :commits.
DECLARE
  list      VARCHAR2(32767) := :list;
  work_unit PLS_INTEGER := :work_unit;
  prefix    VARCHAR2(128) := :prefix;
  tail      VARCHAR2(128) := :tail;
  tails     VARCHAR2(4000) := :tails;
  width     PLS_INTEGER := :width;
  place     PLS_INTEGER := 1;
  turn      PLS_INTEGER := 0;
  kind      VARCHAR2(1);
  first_key NUMBER;
  stamp     VARCHAR2(128);
  hash      VARCHAR2(14);
  found     VARCHAR2(128);
  found_rows   NUMBER;
  selected  NUMBER := 0;
  looked_up NUMBER := 0;
  scanned   NUMBER := 0;
  by_secondary NUMBER := 0;
  updated   NUMBER := 0;
  inserted  NUMBER := 0;
  deleted   NUMBER := 0;
  commits   NUMBER := 0;
BEGIN
  WHILE place < LENGTH(list) LOOP
    kind := SUBSTR(list, place, 1);
    first_key := TO_NUMBER(SUBSTR(list, place + 1, 12));
    IF kind = '0' THEN
      SELECT /*+ INDEX(t dyno_rows_{n}_custid) */ COUNT(c2) INTO found_rows
        FROM dyno_rows_{n} t
       WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
      selected := selected + found_rows;
    ELSIF kind = '1' THEN
      BEGIN
        SELECT /*+ INDEX(t dyno_rows_{n}_custid) */ c2 INTO found
          FROM dyno_rows_{n} t
         WHERE custid = first_key;
        looked_up := looked_up + 1;
      EXCEPTION
        WHEN NO_DATA_FOUND THEN NULL;
      END;
    ELSIF kind = '2' THEN
      {scan}
      scanned := scanned + found_rows;
    ELSIF kind = '4' THEN
      {secondary}
      by_secondary := by_secondary + found_rows;
    ELSE
      stamp := prefix || SUBSTR(list, place + 13, 16);
      hash := SUBSTR(list, place + 29, 14);
      IF kind = '3' THEN
        UPDATE /*+ INDEX(t dyno_rows_{n}_custid) */ dyno_rows_{n} t
           SET ver = ver + 1, {set}
         WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        updated := updated + SQL%ROWCOUNT;
      ELSIF kind = '5' THEN
        INSERT INTO dyno_rows_{n} (custid, ver, {names})
        VALUES (first_key, 0, {values});
        inserted := inserted + SQL%ROWCOUNT;
      ELSE
        DELETE /*+ INDEX(t dyno_rows_{n}_custid) */ FROM dyno_rows_{n} t WHERE custid = first_key;
        deleted := deleted + SQL%ROWCOUNT;
      END IF;
      {commit};
      commits := commits + 1;
      turn := turn + 1;
    END IF;
    place := place + 43;
  END LOOP;
  :selected := selected;
  :looked_up := looked_up;
  :scanned := scanned;
  :by_secondary := by_secondary;
  :updated := updated;
  :inserted := inserted;
  :deleted := deleted;
  :commits := commits;
END;
