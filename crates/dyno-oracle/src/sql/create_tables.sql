-- What was measured of each table after the load.
-- Needs: CREATE TABLE, quota on the tablespace.
CREATE TABLE dyno_tables (
  kind      VARCHAR2(8 BYTE) NOT NULL,
  schema_no NUMBER NOT NULL,
  name      VARCHAR2(128 BYTE) NOT NULL,
  row_count NUMBER NOT NULL,
  blocks    NUMBER NOT NULL,
  bytes     NUMBER NOT NULL,
  CONSTRAINT dyno_tables_pk PRIMARY KEY (kind, schema_no)
) {tablespace}
