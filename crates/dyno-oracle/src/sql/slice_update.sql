-- Gives columns of each range new values, each range committed by itself with {commit}. :list holds for each operation its
-- first key, its number and a hash: 12 decimal, 16 and 14 hexadecimal digits.
--
-- c2 begins with the stamp of run, session and operation; every other column with the hash and the column's number, so all
-- values are new and a row repeats nothing that would compress away. What follows is one of the tails that the client made
-- for this slice: :tail, and 18 of :width characters in :tails.
-- Needs: the tables of schema {n}, own. Returns: rows updated and commits, in :updated and :commits.
DECLARE
  list      VARCHAR2(32767) := :list;
  work_unit PLS_INTEGER := :work_unit;
  prefix    VARCHAR2(128) := :prefix;
  tail      VARCHAR2(128) := :tail;
  tails     VARCHAR2(4000) := :tails;
  width     PLS_INTEGER := :width;
  place     PLS_INTEGER := 1;
  turn      PLS_INTEGER := 0;
  first_key NUMBER;
  stamp     VARCHAR2(128);
  hash      VARCHAR2(14);
  updated   NUMBER := 0;
  commits   NUMBER := 0;
BEGIN
  WHILE place < LENGTH(list) LOOP
    first_key := TO_NUMBER(SUBSTR(list, place, 12));
    stamp := prefix || SUBSTR(list, place + 12, 16);
    hash := SUBSTR(list, place + 28, 14);
    UPDATE /*+ INDEX(t dyno_rows_{n}_custid) */ dyno_rows_{n} t
       SET ver = ver + 1, {set}
     WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
    updated := updated + SQL%ROWCOUNT;
    {commit};
    commits := commits + 1;
    turn := turn + 1;
    place := place + 42;
  END LOOP;
  :updated := updated;
  :commits := commits;
END;
