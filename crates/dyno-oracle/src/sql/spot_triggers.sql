-- Triggers on a table, which would do work of their own. Needs: nothing beyond a session. Returns: names.
SELECT trigger_name FROM user_triggers WHERE table_name = :table_name AND status = 'ENABLED'
