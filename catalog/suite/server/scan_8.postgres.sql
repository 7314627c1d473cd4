SELECT total FROM suite_server_scan_8(CAST(:hot AS integer));
