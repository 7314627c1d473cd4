-- 10,000 records of ten fields with 100 letters each.
CREATE TABLE kv_records (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  field0 VARCHAR(100) NOT NULL,
  field1 VARCHAR(100) NOT NULL,
  field2 VARCHAR(100) NOT NULL,
  field3 VARCHAR(100) NOT NULL,
  field4 VARCHAR(100) NOT NULL,
  field5 VARCHAR(100) NOT NULL,
  field6 VARCHAR(100) NOT NULL,
  field7 VARCHAR(100) NOT NULL,
  field8 VARCHAR(100) NOT NULL,
  field9 VARCHAR(100) NOT NULL
);
CREATE TABLE kv_digits (d INT NOT NULL PRIMARY KEY);
INSERT INTO kv_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO kv_records (field0, field1, field2, field3, field4, field5, field6, field7, field8, field9)
SELECT v.t, v.t, v.t, v.t, v.t, v.t, v.t, v.t, v.t, v.t
  FROM kv_digits a, kv_digits b, kv_digits c, kv_digits e, (SELECT 'alwhsdozkvgrcnyjufqbmxitepalwhsdozkvgrcnyjufqbmxitepalwhsdozkvgrcnyjufqbmxitepalwhsdozkvgrcnyjufqbmx' AS t) v;
DROP TABLE kv_digits;
