-- What lies in schema dyno and is not recorded as Dyno's: kind, name, bytes. Indexes, toast and identity sequences belong
-- to their tables and are not listed.
SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence'
        WHEN 'c' THEN 'type' WHEN 'f' THEN 'foreign table' ELSE 'table' END,
    c.relname, CASE WHEN c.relkind IN ('r', 'm', 'S') THEN pg_catalog.pg_relation_size(c.oid) END
FROM pg_catalog.pg_class c
WHERE c.relnamespace = 'dyno'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c')
    AND NOT EXISTS (SELECT FROM dyno.objects o WHERE o.oid = c.oid)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
        AND d.deptype IN ('i', 'a') AND d.refobjid IN (SELECT o.oid FROM dyno.objects o))
UNION ALL
SELECT 'procedure', p.proname, NULL
FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'dyno'::regnamespace AND NOT EXISTS (SELECT FROM dyno.objects o WHERE o.oid = p.oid)
UNION ALL
SELECT 'type', t.typname, NULL
FROM pg_catalog.pg_type t
WHERE t.typnamespace = 'dyno'::regnamespace AND t.typtype IN ('d', 'e', 'r')
ORDER BY 1, 2
