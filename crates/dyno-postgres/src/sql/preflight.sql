SELECT
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
    pg_has_role(current_user, 'pg_monitor', 'USAGE'),
    has_database_privilege(current_database(), 'CREATE'),
    n.oid IS NOT NULL,
    n.oid IS NOT NULL AND has_schema_privilege(n.oid, 'CREATE') AND has_schema_privilege(n.oid, 'USAGE'),
    pg_is_in_recovery(),
    current_setting('transaction_read_only') = 'on',
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()
        AND pid <> pg_backend_pid() AND coalesce(application_name, '') !~ '^dyno( |$)'),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()
        AND pid <> pg_backend_pid() AND coalesce(application_name, '') !~ '^dyno( |$)' AND state = 'active'),
    (SELECT rolconnlimit FROM pg_roles WHERE rolname = session_user),
    (SELECT datconnlimit FROM pg_database WHERE datname = current_database()),
    (SELECT count(*) FROM pg_prepared_xacts),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'),
    (SELECT current_schema() WHERE has_schema_privilege(current_schema(), 'CREATE')
        AND has_schema_privilege(current_schema(), 'USAGE'))
FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = '{schema}'
