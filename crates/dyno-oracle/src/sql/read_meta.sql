-- What was loaded. Needs: dyno_meta, own. Returns: name, value.
SELECT name, value FROM dyno_meta
