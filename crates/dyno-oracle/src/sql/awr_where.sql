-- Which database and instance snapshots of this session belong to. A PDB keeps its own under a number of its own, which is
-- CON_DBID ("V$DATABASE" in the Database Reference); without containers it is the database's.
-- Needs: SELECT on V_$DATABASE and V_$INSTANCE. Returns: the container's or the database's number, the instance's.
SELECT NVL(d.con_dbid, d.dbid) AS dbid, i.instance_number
  FROM v$database d CROSS JOIN v$instance i
