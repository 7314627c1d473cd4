-- The list of what Dyno made, the first table of all. The mark is the comment that every table of a load carries.
-- Needs: CREATE TABLE, quota on the tablespace.
CREATE TABLE dyno_objects (
  seq  NUMBER NOT NULL,
  kind VARCHAR2(16 BYTE) NOT NULL,
  name VARCHAR2(128 BYTE) NOT NULL,
  mark VARCHAR2(64 BYTE) NOT NULL,
  CONSTRAINT dyno_objects_pk PRIMARY KEY (kind, name)
) {tablespace}
