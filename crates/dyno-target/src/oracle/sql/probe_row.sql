-- The row by which MINIMIZE RECORDS_PER_BLOCK learns how many rows a block may hold.
-- Needs: the table, own.
INSERT INTO {table} (custid, ver) VALUES (0, 0)
