CREATE INDEX IF NOT EXISTS suite_load_by_k ON suite_load_source (k);
DROP INDEX IF EXISTS suite_load_by_k;
