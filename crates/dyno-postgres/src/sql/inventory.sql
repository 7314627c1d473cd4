-- Recorded objects that are still there under their oid, last made first: kind, name, bytes, the statement that drops it.
-- Indexes are dropped with their tables' statements only if they are still there, hence IF EXISTS; names are quoted by
-- the server. The schema comes last and only if nothing foreign is in it.
WITH ours AS (
    SELECT o.seq, o.kind, o.name, o.oid,
        CASE o.kind
            WHEN 'schema' THEN EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.oid = o.oid AND n.nspname = o.name)
            WHEN 'procedure' THEN EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.oid = o.oid
                AND p.pronamespace = 'dyno'::regnamespace)
            ELSE EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = o.oid AND c.relname = o.name
                AND c.relnamespace = 'dyno'::regnamespace)
        END AS there
    FROM dyno.objects o
), foreigners AS (
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = 'dyno'::regnamespace
            AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c')
            AND NOT EXISTS (SELECT FROM ours WHERE ours.oid = c.oid)
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
                AND d.objid = c.oid AND d.deptype IN ('i', 'a')
                AND d.refobjid IN (SELECT ours.oid FROM ours))
        UNION ALL
        SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'dyno'::regnamespace
            AND NOT EXISTS (SELECT FROM ours WHERE ours.oid = p.oid)
        UNION ALL
        SELECT FROM pg_catalog.pg_type t WHERE t.typnamespace = 'dyno'::regnamespace AND t.typtype IN ('d', 'e', 'r')
    ) AS some
)
SELECT kind, name,
    CASE WHEN kind = 'table' THEN pg_catalog.pg_relation_size(oid) + coalesce((SELECT pg_catalog.pg_relation_size(
            c.reltoastrelid) FROM pg_catalog.pg_class c WHERE c.oid = ours.oid AND c.reltoastrelid <> 0), 0)
         WHEN kind = 'index' THEN pg_catalog.pg_relation_size(oid) END,
    CASE kind
        WHEN 'schema' THEN format('DROP SCHEMA %I', name)
        WHEN 'procedure' THEN format('DROP ROUTINE %s', oid::regprocedure)
        WHEN 'index' THEN format('DROP INDEX dyno.%I', name)
        ELSE format('DROP TABLE dyno.%I', name)
    END
FROM ours, foreigners
WHERE there AND (kind <> 'schema' OR NOT foreigners.some)
ORDER BY kind = 'schema', seq DESC
