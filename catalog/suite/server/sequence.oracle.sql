SELECT suite_server_numbers.NEXTVAL FROM dual;
