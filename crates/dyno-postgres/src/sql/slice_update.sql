-- Gives columns of each range new values, two or all, and commits each range.
--
-- c2 begins with the stamp of run, session and operation; every other column with a hash of it, so all values are new and
-- a row repeats nothing that would compress away. What follows is one of the tails that the client made for this slice.
CREATE OR REPLACE PROCEDURE dyno.slice_update_{redo}_{n}(
    firsts int8[], numbers int8[], work_unit int8, prefix text, tails text[],
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT updated int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    first_key int8;
    counted int8;
    turn int8;
    stamp text;
    {declare}
BEGIN
    FOR i IN 1 .. cardinality(firsts) LOOP
        first_key := firsts[i];
        turn := numbers[i] % 18;
        stamp := prefix || lpad(to_hex(numbers[i]), 16, '0');
        {assign}
        UPDATE dyno.rows_{n} SET ver = ver + 1, {set}
            WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        GET DIAGNOSTICS counted = ROW_COUNT;
        COMMIT;
        updated := updated + counted;
        commits := commits + 1;
    END LOOP;
END
$slice$
