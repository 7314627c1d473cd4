-- How large the buffer cache is now; db_cache_size is only its floor where the memory is managed, and 0 in a PDB.
-- Needs: SELECT on V_$SGAINFO. Returns: bytes.
SELECT TO_CHAR(bytes) AS bytes FROM v$sgainfo WHERE name = 'Buffer Cache Size'
