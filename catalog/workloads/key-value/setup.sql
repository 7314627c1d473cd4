-- New rows get the next number.
CREATE SEQUENCE kv_ids OWNED BY kv_records.id;
SELECT setval('kv_ids', (SELECT MAX(id) FROM kv_records));
ALTER TABLE kv_records ALTER COLUMN id SET DEFAULT nextval('kv_ids');
