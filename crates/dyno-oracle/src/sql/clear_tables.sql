-- Forgets what was measured, before it is measured again.
-- Needs: dyno_tables, own.
DELETE FROM dyno_tables
