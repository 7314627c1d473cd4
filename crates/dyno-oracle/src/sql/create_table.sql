-- One test table, empty. PCTFREE 99 closes a block to inserts as soon as it holds a row; nothing may be compressed, for then
-- rows would share what they have in common. {columns} ends with the secondary key where the table has one: a virtual column
-- takes no room in a row.
-- Needs: CREATE TABLE, quota on the tablespace.
CREATE TABLE {table} (
  custid NUMBER NOT NULL,
  ver    NUMBER NOT NULL,
  {columns}
) PCTFREE 99 {tablespace} NOCOMPRESS NOPARALLEL
