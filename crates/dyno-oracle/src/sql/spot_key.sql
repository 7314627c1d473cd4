-- The row of one key. {text} is all text columns in one. Needs: the table, own. Returns: key, version, text, place.
SELECT /*+ INDEX(t {table}_custid) */ custid, ver, {text} AS text, ROWIDTOCHAR(t.ROWID) AS place
  FROM {table} t
 WHERE custid = :key
