-- New rows get the next number.
CREATE SEQUENCE queue_ids OWNED BY queue_jobs.id;
SELECT setval('queue_ids', (SELECT MAX(id) FROM queue_jobs));
ALTER TABLE queue_jobs ALTER COLUMN id SET DEFAULT nextval('queue_ids');
