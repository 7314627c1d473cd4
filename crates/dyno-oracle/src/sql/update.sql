-- Gives the rows of a key range new values; {set} is the list of columns. The commit is a call of its own.
-- Needs: the tables of schema {n}, own. Returns: rows updated.
UPDATE /*+ INDEX(t dyno_rows_{n}_custid) */ dyno_rows_{n} t
   SET ver = ver + 1, {set}
 WHERE custid BETWEEN :first_key AND :last_key
