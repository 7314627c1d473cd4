-- The statements that pg_stat_statements of {extension} has seen in this database: those that clients sent themselves, of all users
-- that can be seen, or of {user}. {toplevel} keeps away what functions did, from version 1.9 of the extension on.
-- Needs: the extension; pg_read_all_stats, or pg_monitor, for the texts of others.
-- Returns: id, text, calls, time in ms, rows, blocks from outside the cache.
SELECT queryid, MIN(query), SUM(calls)::bigint, SUM(total_exec_time), SUM(rows)::bigint, SUM(shared_blks_read)::bigint
  FROM {extension}.pg_stat_statements
 WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND {toplevel}
   AND {user}
 GROUP BY queryid
 ORDER BY {order} DESC, queryid
 LIMIT {most}
