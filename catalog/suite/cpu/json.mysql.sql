SELECT SUM(JSON_EXTRACT(doc, '$.place.shelf')) FROM suite_cpu_rows WHERE n > :x;
