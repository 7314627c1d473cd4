-- Takes a lock that keeps two Dynos apart, exclusive (:lockmode 6) or shared (4): a user lock, held until the session ends,
-- commits or not.
-- Needs: EXECUTE on SYS.DBMS_LOCK. Returns: 0 taken, 1 held by another session, 4 held already, in :outcome.
BEGIN
  :outcome := SYS.DBMS_LOCK.REQUEST(
    id                => :id,
    lockmode          => :lockmode,
    timeout           => 1,
    release_on_commit => FALSE);
END;
