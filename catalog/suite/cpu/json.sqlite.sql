SELECT SUM(json_extract(doc, '$.place.shelf')) FROM suite_cpu_rows WHERE n > :x;
