-- The indexes of a table and their columns. Needs: nothing beyond a session. Returns: index, column, status.
SELECT i.index_name, c.column_name, i.status
  FROM user_indexes i
  JOIN user_ind_columns c ON c.index_name = i.index_name
 WHERE i.table_name = :table_name
 ORDER BY i.index_name, c.column_position
