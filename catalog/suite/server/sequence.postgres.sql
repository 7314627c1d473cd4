SELECT nextval('suite_server_numbers');
