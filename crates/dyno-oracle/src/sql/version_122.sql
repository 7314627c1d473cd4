-- Product and version of 12.2, whose V$VERSION has no full banner. Needs: nothing. Returns: one text.
SELECT banner FROM v$version WHERE banner LIKE 'Oracle%'
