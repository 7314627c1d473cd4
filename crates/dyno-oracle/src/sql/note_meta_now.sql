-- A moment of the load by the database's clock, RFC 3339 in UTC.
-- Needs: dyno_meta, own.
INSERT INTO dyno_meta (name, value)
VALUES (:name, TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
