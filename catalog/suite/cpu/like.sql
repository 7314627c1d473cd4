SELECT COUNT(*) FROM suite_cpu_rows WHERE (t LIKE '%abc%' OR t LIKE '%d_f%' OR t LIKE 'gh%op') AND n > :x;
