DROP TABLE suite_load_copy;
