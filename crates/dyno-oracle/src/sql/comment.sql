-- Marks a table as one of this load. It comes last, so a table without a comment was never finished.
-- Needs: the table, own.
COMMENT ON TABLE {table} IS '{mark}'
