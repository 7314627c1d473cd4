DROP FUNCTION suite_star_parallel(integer);
