-- The largest key, read in one step from the index. Needs: the table, own. Returns: one number.
SELECT /*+ INDEX(t {table}_custid) */ MAX(custid) AS largest FROM {table} t
