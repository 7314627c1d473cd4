-- New rows get numbers above those of any scale.
CREATE SEQUENCE queue_ids START WITH 1000000000001 CACHE 10000;
ALTER TABLE queue_jobs MODIFY (id DEFAULT queue_ids.NEXTVAL);
