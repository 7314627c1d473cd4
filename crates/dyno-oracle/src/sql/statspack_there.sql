-- Whether STATSPACK is installed and this user may use it. Needs: nothing beyond a session. Returns: 1 or no row.
SELECT 1 AS there FROM all_procedures
 WHERE owner = 'PERFSTAT' AND object_name = 'STATSPACK' AND procedure_name = 'SNAP' AND ROWNUM = 1
