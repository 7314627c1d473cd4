-- Whether a table holds more than the probe row. Needs: the table, own. Returns: 0, 1 or 2.
SELECT COUNT(*) AS few FROM {table} WHERE ROWNUM <= 2
