SELECT total FROM suite_server_scan_4(CAST(:hot AS integer));
