-- The index by which ranges are read: not unique, as the method has it.
-- Needs: the table, own; quota on the tablespace.
CREATE INDEX {table}_custid ON {table} (custid) NOPARALLEL {tablespace} {logging}
