-- The blocks of rows that sessions have inserted and not deleted: the rowid of each.
-- Needs: the table, own. Returns: rowids.
SELECT /*+ INDEX(t {table}_custid) */ ROWIDTOCHAR(t.ROWID) AS place FROM {table} t
 WHERE custid > :last_key AND c2 LIKE 'u%'
