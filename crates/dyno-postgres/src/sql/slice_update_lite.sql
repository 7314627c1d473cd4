-- Gives two columns of each range new values, and commits each range.
--
-- c2 begins with the stamp of run, session and operation; every other column with a hash of it, so all values are new and
-- a row repeats nothing that would compress away. What follows is one of the tails that the client made for this slice.
CREATE OR REPLACE PROCEDURE dyno.slice_update_lite_{n}(
    firsts int8[], numbers int8[], work_unit int8, prefix text, tails text[],
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT updated int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    first_key int8;
    counted int8;
    turn int8;
    stamp text;
    value_2 text;
    value_20 text;
BEGIN
    FOR i IN 1 .. cardinality(firsts) LOOP
        first_key := firsts[i];
        turn := numbers[i] % 18;
        stamp := prefix || lpad(to_hex(numbers[i]), 16, '0');
        value_2 := stamp || tails[1];
        value_20 := lpad(to_hex(hashtextextended(stamp, 20)), 16, '0') || tails[(turn + 20) % 18 + 2];
        UPDATE dyno.rows_{n} SET ver = ver + 1, c2 = value_2, c20 = value_20
            WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        GET DIAGNOSTICS counted = ROW_COUNT;
        COMMIT;
        updated := updated + counted;
        commits := commits + 1;
    END LOOP;
END
$slice$
