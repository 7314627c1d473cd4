-- Lets every commit of this session wait until its redo is on storage, whatever the instance's setting is: workload.commit =
-- "wait". FORCE_WAIT of the instance cannot be overridden and means the same.
-- Needs: nothing beyond a session.
ALTER SESSION SET COMMIT_LOGGING = 'IMMEDIATE' COMMIT_WAIT = 'WAIT'
