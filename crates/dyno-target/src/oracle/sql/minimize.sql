-- Limits the rows of a block to as many as any block of the table holds now. PCTFREE 99 keeps a second row out already;
-- this holds too where a block has been emptied by deletes.
-- Needs: the table, own.
ALTER TABLE {table} MINIMIZE RECORDS_PER_BLOCK
