-- Counts the rows of each value of the secondary key, one statement execution per value.
CREATE OR REPLACE PROCEDURE dyno.slice_secondary_{n}(
    groups int8[],
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT by_secondary int8,
    INOUT updated int8, INOUT inserted int8, INOUT deleted int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    value int8;
    counted int8;
BEGIN
    FOREACH value IN ARRAY groups LOOP
        SELECT COUNT(c2) INTO counted FROM dyno.rows_{n} WHERE ({secondary}) = value;
        by_secondary := by_secondary + counted;
    END LOOP;
END
$slice$
