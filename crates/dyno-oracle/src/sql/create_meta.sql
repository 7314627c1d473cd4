-- What was loaded, as name and value.
-- Needs: CREATE TABLE, quota on the tablespace.
CREATE TABLE dyno_meta (
  name  VARCHAR2(32 BYTE) NOT NULL,
  value VARCHAR2(255 BYTE) NOT NULL,
  CONSTRAINT dyno_meta_pk PRIMARY KEY (name)
) {tablespace}
