DROP TABLE kv_records;
