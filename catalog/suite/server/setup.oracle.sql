CREATE SEQUENCE suite_server_numbers CACHE 20;
