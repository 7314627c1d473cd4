DROP TABLE suite_server_numbers;
