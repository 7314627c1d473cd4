-- Removes a table of Dyno's with its index and its comment, without a stay in the recycle bin.
-- Needs: the table, own.
DROP TABLE {table} PURGE
