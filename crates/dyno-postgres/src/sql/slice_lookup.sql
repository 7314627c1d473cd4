-- Reads the row of each key, one statement execution per key.
CREATE OR REPLACE PROCEDURE dyno.slice_lookup_{n}(
    keys int8[],
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT updated int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    key int8;
    value text;
BEGIN
    FOREACH key IN ARRAY keys LOOP
        SELECT c2 INTO value FROM dyno.rows_{n} WHERE custid = key;
        IF FOUND THEN
            looked_up := looked_up + 1;
        END IF;
    END LOOP;
END
$slice$
