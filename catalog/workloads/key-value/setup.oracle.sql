-- New rows get numbers above those of any scale.
CREATE SEQUENCE kv_ids START WITH 1000000000001 CACHE 10000;
ALTER TABLE kv_records MODIFY (id DEFAULT kv_ids.NEXTVAL);
