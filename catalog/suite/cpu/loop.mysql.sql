SELECT suite_cpu_loop(:x);
