-- Every row's version and the beginning of its c2, as they are at one moment.
-- Needs: the table, own. Returns: key, version, 41 characters.
SELECT custid, ver, SUBSTR(c2, 1, 41) AS stamp FROM {table}
