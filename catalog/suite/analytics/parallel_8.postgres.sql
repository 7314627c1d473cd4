SELECT most FROM suite_star_parallel_8(CAST(:year AS integer));
