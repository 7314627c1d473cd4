DROP TABLE suite_load_copy;
CREATE TABLE suite_load_copy AS SELECT id, k, v, pad FROM suite_load_source;
