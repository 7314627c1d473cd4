-- How many sessions the user's profile allows. Needs: nothing beyond a session. Returns: a number, UNLIMITED or DEFAULT.
SELECT limit FROM user_resource_limits WHERE resource_name = 'SESSIONS_PER_USER'
