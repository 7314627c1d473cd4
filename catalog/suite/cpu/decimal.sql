SELECT SUM(d * 1.0750 + d / 3.70 - (d - 0.05) * 0.19 + d * d) FROM suite_cpu_rows WHERE n > :x;
