SELECT COUNT(*) FROM suite_cpu_rows WHERE t REGEXP '[a-d]+e[f-h]{1,3}i' AND n > :x;
