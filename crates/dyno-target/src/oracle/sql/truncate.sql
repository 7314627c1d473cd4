-- Takes the probe row out again; the limit on rows per block stays.
-- Needs: the table, own.
TRUNCATE TABLE {table}
