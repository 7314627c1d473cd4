-- An index by which rows are found, not unique, as the method has it: on custid, or on the secondary key.
-- Needs: the table, own; quota on the tablespace.
CREATE INDEX {index} ON {table} ({column}) NOPARALLEL {tablespace} {logging}
