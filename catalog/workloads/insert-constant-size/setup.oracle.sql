-- New rows get numbers above those of any scale.
CREATE SEQUENCE steady_ids START WITH 1000000000001 CACHE 10000;
ALTER TABLE steady_rows MODIFY (id DEFAULT steady_ids.NEXTVAL);
