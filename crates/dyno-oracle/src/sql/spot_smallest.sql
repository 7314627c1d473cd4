-- The smallest key, read in one step from the index. Needs: the table, own. Returns: one number.
SELECT /*+ INDEX(t {table}_custid) */ MIN(custid) AS smallest FROM {table} t
