SELECT MAX(STANDARD_HASH(t, 'MD5')) FROM suite_cpu_rows WHERE n > :x;
