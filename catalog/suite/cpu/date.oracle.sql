SELECT SUM(EXTRACT(DAY FROM day + n) + EXTRACT(YEAR FROM day - n) + (day - DATE '1999-01-01')) FROM suite_cpu_rows WHERE n > :x;
