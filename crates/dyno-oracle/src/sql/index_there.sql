-- Whether an index is there and can be used. Needs: nothing beyond a session. Returns: its status, or no row.
SELECT status FROM user_indexes WHERE index_name = :index_name
