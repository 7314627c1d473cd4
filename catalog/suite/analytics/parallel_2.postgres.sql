SELECT most FROM suite_star_parallel_2(CAST(:year AS integer));
