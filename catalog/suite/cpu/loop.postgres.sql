SELECT suite_cpu_loop(CAST(:x AS integer));
