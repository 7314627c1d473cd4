SELECT {source}, e.key, e.value
FROM (
    SELECT
        count(*) AS tables,
        sum(pg_stat_get_numscans(t.oid)) AS seq_scan,
        sum(pg_stat_get_tuples_returned(t.oid)) AS seq_tup_read,
        sum(pg_stat_get_tuples_fetched(t.oid)) AS bitmap_tup_fetch,
        sum(pg_stat_get_tuples_inserted(t.oid)) AS n_tup_ins,
        sum(pg_stat_get_tuples_updated(t.oid)) AS n_tup_upd,
        sum(pg_stat_get_tuples_hot_updated(t.oid)) AS n_tup_hot_upd,
        sum(pg_stat_get_tuples_deleted(t.oid)) AS n_tup_del,
        sum(pg_stat_get_blocks_fetched(t.oid) - pg_stat_get_blocks_hit(t.oid)) AS heap_blks_read,
        sum(pg_stat_get_blocks_hit(t.oid)) AS heap_blks_hit,
        sum(pg_stat_get_vacuum_count(t.oid)) AS vacuum_count,
        sum(pg_stat_get_autovacuum_count(t.oid)) AS autovacuum_count,
        sum(pg_stat_get_analyze_count(t.oid)) AS analyze_count,
        sum(pg_stat_get_autoanalyze_count(t.oid)) AS autoanalyze_count
    FROM {tables} t
) h, (
    SELECT
        coalesce(sum(pg_stat_get_numscans(i.oid)), 0) AS idx_scan,
        coalesce(sum(pg_stat_get_tuples_fetched(i.oid)), 0) AS idx_tup_fetch,
        coalesce(sum(pg_stat_get_blocks_fetched(i.oid) - pg_stat_get_blocks_hit(i.oid)), 0) AS idx_blks_read,
        coalesce(sum(pg_stat_get_blocks_hit(i.oid)), 0) AS idx_blks_hit
    FROM {indexes} i
) i, jsonb_each_text(to_jsonb(h) || to_jsonb(i)) e
WHERE h.tables > 0
