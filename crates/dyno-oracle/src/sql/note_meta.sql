-- One fact about the load.
-- Needs: dyno_meta, own.
INSERT INTO dyno_meta (name, value) VALUES (:name, :value)
