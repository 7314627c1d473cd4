-- Which database and instance snapshots of this session belong to. A PDB keeps its own where it may.
-- Needs: SELECT on V_$DATABASE and V_$INSTANCE. Returns: the database's number, the instance's.
SELECT NVL(TO_NUMBER(SYS_CONTEXT('USERENV', 'CON_DBID')), d.dbid) AS dbid, i.instance_number
  FROM v$database d CROSS JOIN v$instance i
