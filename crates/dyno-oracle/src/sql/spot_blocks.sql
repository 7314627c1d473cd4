-- Rows of a few blocks that the seed chooses; {pct} is the share of blocks that is read.
-- Needs: the table, own. Returns: key, version, text.
SELECT custid, ver, {text} AS text
  FROM {table} SAMPLE BLOCK ({pct}) SEED ({seed})
 WHERE ROWNUM <= 128
