-- The row of one key. {text} is all text columns in one. Needs: the table, own. Returns: key, version, text.
SELECT /*+ INDEX(t {table}_custid) */ custid, ver, {text} AS text
  FROM {table} t
 WHERE custid = :key
