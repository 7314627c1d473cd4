SELECT /*+ FULL(r) PARALLEL(r 8) */ COUNT(*), SUM(v), MAX(other) FROM suite_server_scanned r WHERE v > :hot;
