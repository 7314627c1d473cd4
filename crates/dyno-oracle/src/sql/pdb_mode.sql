-- How this container is open, which may be for reads only where the database is open for writes.
-- Needs: SELECT on V_$PDBS. Returns: READ WRITE, READ ONLY, …; no row where there are no containers.
SELECT open_mode FROM v$pdbs WHERE con_id = TO_NUMBER(SYS_CONTEXT('USERENV', 'CON_ID'))
