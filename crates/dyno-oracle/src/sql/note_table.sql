-- Notes what was measured of one table.
-- Needs: dyno_tables, own.
INSERT INTO dyno_tables (kind, schema_no, name, row_count, blocks, bytes)
VALUES (:kind, :schema_no, :name, :row_count, :blocks, :bytes)
