-- Reads back the rows of an update: how many there are, and in how many c2 begins with its stamp or with one that another
-- session of the same run wrote later.
-- Needs: the tables of schema {n}, own. Returns: one row, two numbers.
SELECT COUNT(*) AS there,
       COUNT(CASE
               WHEN SUBSTR(c2, 1, LENGTH(:stamp)) = :stamp THEN 1
               WHEN SUBSTR(c2, 1, LENGTH(:run_prefix)) = :run_prefix
                AND SUBSTR(c2, 1, LENGTH(:session_prefix)) <> :session_prefix THEN 1
             END) AS held
  FROM dyno_rows_{n}
 WHERE custid BETWEEN :first_key AND :last_key
