SELECT COUNT(*) FROM suite_cpu_rows WHERE REGEXP_LIKE(t, '[a-d]+e[f-h]{1,3}i') AND n > :x;
