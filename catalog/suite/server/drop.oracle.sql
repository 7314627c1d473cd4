DROP SEQUENCE suite_server_numbers;
