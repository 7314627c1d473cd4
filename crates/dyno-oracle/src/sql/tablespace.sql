-- The tablespace of the test tables: the one that is named, or with a blank the user's own. Needs: nothing beyond a session.
-- Returns: name, block size, segment space management, default compression, logging, online or not.
SELECT t.tablespace_name, t.block_size, t.segment_space_management, t.def_tab_compression, t.logging, t.status
  FROM user_tablespaces t
 WHERE t.tablespace_name = NVL(TRIM(:tablespace), (SELECT u.default_tablespace FROM user_users u))
