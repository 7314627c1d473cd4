-- The limits of the user's profile that end sessions or calls. Needs: nothing beyond a session. Returns: the resource, and a number: of
-- minutes for times, else of its own unit.
SELECT resource_name, limit FROM user_resource_limits
WHERE resource_name IN ('CONNECT_TIME', 'IDLE_TIME', 'CPU_PER_SESSION', 'LOGICAL_READS_PER_SESSION', 'COMPOSITE_LIMIT', 'CPU_PER_CALL', 'LOGICAL_READS_PER_CALL')
AND limit NOT IN ('UNLIMITED', 'DEFAULT') ORDER BY resource_name
