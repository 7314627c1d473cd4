-- One row of a test table, executed with an array of them; {names} and {binds} are the text columns.
-- Needs: the table, own. Returns: rows inserted.
INSERT INTO {table} (custid, ver, {names}) VALUES (:custid, 0, {binds})
