SELECT COUNT(*), SUM(a.id - b.id) FROM suite_cpu_rows a JOIN suite_cpu_rows b ON b.n = a.id WHERE a.n > :x;
