-- Free bytes in the files of a tablespace as they are; files that may grow hold more. Needs: nothing beyond a session.
-- Returns: bytes, null without any.
SELECT SUM(bytes) AS free_bytes FROM user_free_space WHERE tablespace_name = :tablespace
