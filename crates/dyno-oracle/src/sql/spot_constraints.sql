-- Constraints on a table beside NOT NULL, which every change would have to be checked for.
-- Needs: nothing beyond a session. Returns: names.
SELECT constraint_name FROM user_constraints WHERE table_name = :table_name AND constraint_type IN ('P', 'U', 'R') AND status = 'ENABLED'
