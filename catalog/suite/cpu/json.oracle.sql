SELECT SUM(JSON_VALUE(doc, '$.place.shelf' RETURNING NUMBER)) FROM suite_cpu_rows WHERE n > :x;
