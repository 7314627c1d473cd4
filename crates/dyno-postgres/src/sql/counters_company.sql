-- Blocks and rows of the run's own relations, of the system's, and of everybody else on the server.
--
-- The database's own sums (pg_stat_database) are made of the same numbers, relation by relation, so what is neither own nor
-- the system's is the work of others. Own is every test table with all its indexes and its TOAST table. The system's is the
-- catalog, which planning and observing read, and the two tables in which Dyno keeps what it has made. Relations
-- that all databases share are in no database's sums.
WITH tables AS (
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = {schema} AND c.relname = ANY (ARRAY[{tables}]::name[])
), heaps AS (
    SELECT t.oid FROM tables t
    UNION ALL
    SELECT c.reltoastrelid FROM pg_class c JOIN tables t USING (oid) WHERE c.reltoastrelid <> 0
), own AS (
    SELECT h.oid FROM heaps h
    UNION ALL
    SELECT i.indexrelid FROM pg_index i JOIN heaps h ON i.indrelid = h.oid
), kept AS (
    SELECT c.oid, c.reltoastrelid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = {schema} AND c.relname IN ('meta', 'objects')
), system AS (
    -- Objects of initdb have numbers below 16384 (FirstNormalObjectId).
    SELECT c.oid FROM pg_class c WHERE c.oid < 16384 AND c.relkind IN ('r', 'i', 't') AND NOT c.relisshared
    UNION ALL
    SELECT k.oid FROM kept k
    UNION ALL
    SELECT i.indexrelid FROM pg_index i JOIN kept k ON i.indrelid = k.oid
), sums AS (
    SELECT r.name,
        coalesce(sum(pg_stat_get_blocks_fetched(r.oid)), 0) AS blks_fetched,
        coalesce(sum(pg_stat_get_blocks_hit(r.oid)), 0) AS blks_hit,
        coalesce(sum(pg_stat_get_tuples_returned(r.oid) + pg_stat_get_tuples_fetched(r.oid)), 0) AS tup_read,
        coalesce(sum(pg_stat_get_tuples_inserted(r.oid) + pg_stat_get_tuples_updated(r.oid)
            + pg_stat_get_tuples_deleted(r.oid)), 0) AS tup_written
    FROM (SELECT 'dyno.own' AS name, o.oid FROM own o UNION ALL SELECT 'dyno.system', s.oid FROM system s) r
    GROUP BY r.name
    UNION ALL
    SELECT CASE WHEN d.datname = current_database() THEN 'dyno.here' ELSE 'dyno.elsewhere' END,
        sum(d.blks_hit + d.blks_read), sum(d.blks_hit), sum(d.tup_returned + d.tup_fetched),
        sum(d.tup_inserted + d.tup_updated + d.tup_deleted)
    FROM pg_stat_database d WHERE d.datid <> 0
    GROUP BY 1
)
SELECT s.name, e.key, e.value FROM sums s, jsonb_each_text(to_jsonb(s) - 'name') e
UNION ALL
SELECT 'dyno.elsewhere', 'xact_commit', coalesce(sum(d.xact_commit), 0)::text
FROM pg_stat_database d WHERE d.datid <> 0 AND d.datname <> current_database()
UNION ALL
SELECT 'pg_stat_database', 'autovacuums', sum(pg_stat_get_autovacuum_count(c.oid) + pg_stat_get_autoanalyze_count(c.oid))::text
FROM pg_class c WHERE c.relkind IN ('r', 'm', 't')
