-- Which management packs the database says are licensed. Needs: SELECT on V_$PARAMETER. Returns: NONE, DIAGNOSTIC, ….
SELECT value FROM v$parameter WHERE name = 'control_management_pack_access'
