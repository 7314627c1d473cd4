-- Deletes some of these rows; executed until none is left, so that no transaction grows with what was left behind.
-- Needs: the table, own. Returns: rows deleted.
DELETE /*+ INDEX(t {table}_custid) */ FROM {table} t WHERE custid > :last_key AND c2 LIKE 'u%' AND ROWNUM <= :most
