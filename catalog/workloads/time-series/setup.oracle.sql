-- New rows get numbers above those of any scale.
CREATE SEQUENCE ts_ids START WITH 1000000000001 CACHE 10000;
ALTER TABLE ts_points MODIFY (id DEFAULT ts_ids.NEXTVAL);
