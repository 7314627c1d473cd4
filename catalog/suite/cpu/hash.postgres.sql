SELECT MAX(md5(t)) FROM suite_cpu_rows WHERE n > :x;
