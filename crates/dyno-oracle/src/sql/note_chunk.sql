-- Notes a part of the load, in the transaction of its rows.
-- Needs: dyno_chunks, own.
INSERT INTO dyno_chunks (kind, schema_no, first_position, row_count)
VALUES (:kind, :schema_no, :first_position, :row_count)
