-- Counts those of them in which c2 begins with the stamp of an update, or with one that another session of the same run wrote
-- later. All three texts are hexadecimal digits behind a letter. Each bind is named once: they are given by position.
-- Needs: the tables of schema {n}, own. Returns: one row, one number.
SELECT COUNT(CASE
               WHEN c2 LIKE :stamp || '%'
                 OR (c2 LIKE :run_prefix || '%' AND c2 NOT LIKE :session_prefix || '%') THEN 1
             END) AS held
  FROM dyno_rows_{n}
 WHERE custid BETWEEN :first_key AND :last_key
