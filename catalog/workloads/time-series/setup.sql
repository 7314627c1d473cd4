-- New rows get the next number.
CREATE SEQUENCE ts_ids OWNED BY ts_points.id;
SELECT setval('ts_ids', (SELECT MAX(id) FROM ts_points));
ALTER TABLE ts_points ALTER COLUMN id SET DEFAULT nextval('ts_ids');
