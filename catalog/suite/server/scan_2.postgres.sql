SELECT total FROM suite_server_scan_2(CAST(:hot AS integer));
