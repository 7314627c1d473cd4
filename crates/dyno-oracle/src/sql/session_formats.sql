-- Formats that do not depend on the client's country: decimals with a point, moments as ISO 8601 has them, texts compared by bytes.
-- Needs: nothing beyond a session.
ALTER SESSION SET NLS_NUMERIC_CHARACTERS = '.,' NLS_DATE_FORMAT = 'YYYY-MM-DD HH24:MI:SS'
  NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF' NLS_TIMESTAMP_TZ_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF TZH:TZM'
  NLS_COMP = BINARY NLS_SORT = BINARY
