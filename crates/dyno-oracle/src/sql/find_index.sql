-- Whether the user has an index of this name. Needs: nothing beyond a session. Returns: null, or no row.
SELECT CAST(NULL AS NUMBER) AS bytes FROM user_indexes i WHERE i.index_name = UPPER(:object_name)
