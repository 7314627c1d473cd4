-- The parts of the load that are there for good.
-- Needs: CREATE TABLE, quota on the tablespace.
CREATE TABLE dyno_chunks (
  kind           VARCHAR2(8 BYTE) NOT NULL,
  schema_no      NUMBER NOT NULL,
  first_position NUMBER NOT NULL,
  row_count      NUMBER NOT NULL,
  CONSTRAINT dyno_chunks_pk PRIMARY KEY (kind, schema_no, first_position)
) {tablespace}
