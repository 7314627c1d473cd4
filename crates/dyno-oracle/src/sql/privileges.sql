-- System privileges of this session, by itself or by a role. Needs: nothing beyond a session. Returns: names.
SELECT privilege FROM session_privs
