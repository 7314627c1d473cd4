-- All settings of this instance and container. Needs: SELECT on V_$PARAMETER.
-- Returns: name, value, whether it is the default.
SELECT name, value, isdefault FROM v$parameter
