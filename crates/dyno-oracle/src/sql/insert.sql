-- Inserts a row of the session's own with new values; {names} and {binds} are the text columns. The commit is a call of its own.
-- Needs: the tables of schema {n}, own. Returns: rows inserted.
INSERT INTO dyno_rows_{n} (custid, ver, {names}) VALUES (:key, 0, {binds})
