ANALYZE suite_load_source;
