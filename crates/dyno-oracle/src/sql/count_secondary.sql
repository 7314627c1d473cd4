-- How many rows have a value of the secondary key, by its index. Needs: the table, own. Returns: one number.
SELECT /*+ INDEX(t {table}_sec) */ COUNT(*) AS row_count FROM {table} t WHERE sec = :value
