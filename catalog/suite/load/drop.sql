DROP TABLE IF EXISTS suite_load_copy;
