-- Mounts that Oracle's own NFS client serves. Needs: SELECT on V_$DNFS_SERVERS. Returns: how many.
SELECT COUNT(*) AS nfs_servers FROM v$dnfs_servers
