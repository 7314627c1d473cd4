-- Rows that sessions have inserted and not deleted: above the loaded keys, with a value of a run.
-- Needs: the table, own. Returns: one number.
SELECT /*+ INDEX(t {table}_custid) */ COUNT(c2) AS row_count FROM {table} t WHERE custid > :last_key AND c2 LIKE 'u%'
