SELECT MAX(MD5(t)) FROM suite_cpu_rows WHERE n > :x;
