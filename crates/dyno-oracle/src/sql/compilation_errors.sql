-- What the compiler says of an object of this user. Needs: nothing beyond a session. Returns: line, column, text.
SELECT TO_CHAR(line) AS line, TO_CHAR(position) AS position, text
  FROM user_errors
 WHERE name = :name
   AND attribute = 'ERROR'
 ORDER BY sequence
