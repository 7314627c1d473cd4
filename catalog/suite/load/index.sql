CREATE INDEX suite_load_by_k ON suite_load_source (k);
DROP INDEX suite_load_by_k;
