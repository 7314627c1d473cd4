-- New rows get the next number.
CREATE SEQUENCE steady_ids OWNED BY steady_rows.id;
SELECT setval('steady_ids', (SELECT MAX(id) FROM steady_rows));
ALTER TABLE steady_rows ALTER COLUMN id SET DEFAULT nextval('steady_ids');
