SELECT SUM((doc::jsonb -> 'place' ->> 'shelf')::integer) FROM suite_cpu_rows WHERE n > :x;
