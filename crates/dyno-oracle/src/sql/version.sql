-- Product and version of 18c and later. Needs: nothing: every user may read V$VERSION. Returns: one text.
SELECT banner_full FROM v$version WHERE banner_full LIKE 'Oracle%'
