DROP FUNCTION suite_cpu_loop(integer);
