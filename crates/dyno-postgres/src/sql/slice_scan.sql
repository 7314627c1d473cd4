-- Counts the rows of the table without an index, as often as asked.
CREATE OR REPLACE PROCEDURE dyno.slice_scan_{n}(
    scans int8,
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT updated int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    counted int8;
BEGIN
    FOR scan IN 1 .. scans LOOP
        SELECT COUNT(c2) INTO counted FROM dyno.scan_{n};
        scanned := scanned + counted;
    END LOOP;
END
$slice$
