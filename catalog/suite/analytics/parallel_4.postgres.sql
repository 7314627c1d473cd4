SELECT most FROM suite_star_parallel_4(CAST(:year AS integer));
