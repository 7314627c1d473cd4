SELECT /*+ FULL(r) PARALLEL(r 2) */ COUNT(*), SUM(v), MAX(other) FROM suite_server_rows r WHERE v > :hot;
