-- Gives two columns of each range new values, and commits each range.
--
-- A value is the run's and session's prefix, the operation's number, and one of nineteen tails; each column of a row takes
-- another tail, so a row repeats nothing, and the number makes every value new.
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
        turn := numbers[i] % 19;
        stamp := prefix || lpad(to_hex(numbers[i]), 16, '0');
        value_2 := stamp || tails[(turn + 0) % 19 + 1];
        value_20 := stamp || tails[(turn + 18) % 19 + 1];
        UPDATE dyno.rows_{n} SET ver = ver + 1, c2 = value_2, c20 = value_20
            WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        GET DIAGNOSTICS counted = ROW_COUNT;
        COMMIT;
        updated := updated + counted;
        commits := commits + 1;
    END LOOP;
END
$slice$
