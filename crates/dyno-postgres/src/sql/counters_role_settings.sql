-- Settings of ALTER ROLE and ALTER DATABASE that a new session of this user gets here. The session that asks has its own from
-- when it connected, so neither SHOW nor pg_settings tells of them.
SELECT 'setting of new sessions',
    concat(split_part(c, '=', 1), ' (ALTER ', CASE WHEN s.setrole = 0 THEN 'DATABASE' WHEN s.setdatabase = 0 THEN 'ROLE' ELSE 'ROLE IN DATABASE' END, ')'),
    substr(c, strpos(c, '=') + 1)
FROM pg_db_role_setting s, unnest(s.setconfig) c
WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
