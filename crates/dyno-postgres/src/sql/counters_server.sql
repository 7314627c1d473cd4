SELECT 'server', e.key, e.value
FROM jsonb_each_text(jsonb_build_object(
    'started', pg_postmaster_start_time(),
    'loaded', pg_conf_load_time(),
    'in_recovery', pg_is_in_recovery(),
    'wal_bytes', CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_insert_lsn() - '0/0' END,
    'timeline', CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END
)) e
