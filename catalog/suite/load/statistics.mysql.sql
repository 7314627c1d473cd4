ANALYZE TABLE suite_load_source;
