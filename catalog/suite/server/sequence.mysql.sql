UPDATE suite_server_numbers SET value = LAST_INSERT_ID(value + 1);
