-- Reads all of a table once. The last three characters of a rowid are the row's place within its block, and AAA is the first:
-- as many blocks hold rows as rows stand first, and one row per block is all rows standing first.
-- Needs: the table, own. Returns: rows, smallest, largest and sum of keys, rows that stand first in their block.
SELECT /*+ FULL(t) */ COUNT(*) AS all_rows,
       MIN(custid) AS smallest,
       MAX(custid) AS largest,
       SUM(custid) AS key_sum,
       COUNT(CASE WHEN SUBSTR(ROWIDTOCHAR(t.ROWID), 16, 3) = 'AAA' THEN 1 END) AS blocks
  FROM {table} t
