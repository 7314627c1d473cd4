-- The parts of the load that are there for good. Needs: dyno_chunks, own.
-- Returns: kind, schema, first position, rows.
SELECT kind, schema_no, first_position, row_count FROM dyno_chunks
