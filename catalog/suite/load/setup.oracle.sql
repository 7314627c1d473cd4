CREATE TABLE suite_load_copy AS SELECT * FROM suite_load_source;
