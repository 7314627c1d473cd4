SELECT most FROM suite_star_parallel(CAST(:year AS integer));
