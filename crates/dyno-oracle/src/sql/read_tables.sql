-- What was measured of each table. Needs: dyno_tables, own.
-- Returns: kind, schema, name, rows, blocks, bytes.
SELECT kind, schema_no, name, row_count, blocks, bytes FROM dyno_tables ORDER BY kind, schema_no
