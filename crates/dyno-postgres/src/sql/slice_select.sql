-- Counts the rows of each range, one statement execution per range.
CREATE OR REPLACE PROCEDURE dyno.slice_select_{n}(
    firsts int8[], work_unit int8,
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT updated int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    first_key int8;
    counted int8;
BEGIN
    FOREACH first_key IN ARRAY firsts LOOP
        SELECT COUNT(c2) INTO counted FROM dyno.rows_{n}
            WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        selected := selected + counted;
    END LOOP;
END
$slice$
