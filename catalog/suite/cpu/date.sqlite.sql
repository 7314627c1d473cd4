SELECT SUM(strftime('%d', day, n || ' days') + strftime('%Y', day, -n || ' days') + julianday(day) - julianday('1999-01-01')) FROM suite_cpu_rows WHERE n > :x;
