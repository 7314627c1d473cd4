-- Lets no commit of this session wait: workload.commit = "nowait". An instance with COMMIT_WAIT = FORCE_WAIT ignores it.
-- Needs: nothing beyond a session.
ALTER SESSION SET COMMIT_LOGGING = 'BATCH' COMMIT_WAIT = 'NOWAIT'
