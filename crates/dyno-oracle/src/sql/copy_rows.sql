-- Copies all rows of {source}, a table of schema 1, into the empty table {table}. The rows are written above all blocks of the
-- table and bypass the cache (direct path); until the commit, this session may not use the table (ORA-12838). {texts} are the
-- columns {names} with rearranged text. The hash puts the rows in random order, which differs by {seed}.
-- Needs: both tables, own; temporary space for a sort of all rows. Returns: rows inserted.
INSERT /*+ APPEND */ INTO {table} (custid, ver, {names})
SELECT /*+ FULL(t) NO_PARALLEL(t) */ custid, 0, {texts}
  FROM {source} t
 ORDER BY ORA_HASH(custid, 4294967295, {seed})
