DROP FUNCTION suite_star_parallel_2(integer);
DROP FUNCTION suite_star_parallel_4(integer);
DROP FUNCTION suite_star_parallel_8(integer);
