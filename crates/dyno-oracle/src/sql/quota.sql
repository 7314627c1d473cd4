-- How much this user may still write in a tablespace. Needs: nothing beyond a session.
-- Returns: bytes used, bytes allowed (-1 is all); no row without a quota.
SELECT bytes, max_bytes FROM user_ts_quotas WHERE tablespace_name = :tablespace
