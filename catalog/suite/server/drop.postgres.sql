DROP FUNCTION suite_server_scan_2(integer);
DROP FUNCTION suite_server_scan_4(integer);
DROP FUNCTION suite_server_scan_8(integer);
DROP SEQUENCE suite_server_numbers;
