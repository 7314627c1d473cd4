SELECT suite_star_parallel(CAST(:year AS integer));
