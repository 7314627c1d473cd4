-- Gives all nineteen columns of each range new values, and commits each range.
--
-- A value is the run's and session's prefix, the operation's number, and one of nineteen tails; each column of a row takes
-- another tail, so a row repeats nothing, and the number makes every value new.
CREATE OR REPLACE PROCEDURE dyno.slice_update_heavy_{n}(
    firsts int8[], numbers int8[], work_unit int8, prefix text, tails text[],
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT updated int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    first_key int8;
    counted int8;
    turn int8;
    stamp text;
    value_2 text;
    value_3 text;
    value_4 text;
    value_5 text;
    value_6 text;
    value_7 text;
    value_8 text;
    value_9 text;
    value_10 text;
    value_11 text;
    value_12 text;
    value_13 text;
    value_14 text;
    value_15 text;
    value_16 text;
    value_17 text;
    value_18 text;
    value_19 text;
    value_20 text;
BEGIN
    FOR i IN 1 .. cardinality(firsts) LOOP
        first_key := firsts[i];
        turn := numbers[i] % 19;
        stamp := prefix || lpad(to_hex(numbers[i]), 16, '0');
        value_2 := stamp || tails[(turn + 0) % 19 + 1];
        value_3 := stamp || tails[(turn + 1) % 19 + 1];
        value_4 := stamp || tails[(turn + 2) % 19 + 1];
        value_5 := stamp || tails[(turn + 3) % 19 + 1];
        value_6 := stamp || tails[(turn + 4) % 19 + 1];
        value_7 := stamp || tails[(turn + 5) % 19 + 1];
        value_8 := stamp || tails[(turn + 6) % 19 + 1];
        value_9 := stamp || tails[(turn + 7) % 19 + 1];
        value_10 := stamp || tails[(turn + 8) % 19 + 1];
        value_11 := stamp || tails[(turn + 9) % 19 + 1];
        value_12 := stamp || tails[(turn + 10) % 19 + 1];
        value_13 := stamp || tails[(turn + 11) % 19 + 1];
        value_14 := stamp || tails[(turn + 12) % 19 + 1];
        value_15 := stamp || tails[(turn + 13) % 19 + 1];
        value_16 := stamp || tails[(turn + 14) % 19 + 1];
        value_17 := stamp || tails[(turn + 15) % 19 + 1];
        value_18 := stamp || tails[(turn + 16) % 19 + 1];
        value_19 := stamp || tails[(turn + 17) % 19 + 1];
        value_20 := stamp || tails[(turn + 18) % 19 + 1];
        UPDATE dyno.rows_{n} SET ver = ver + 1, c2 = value_2, c3 = value_3, c4 = value_4, c5 = value_5, c6 = value_6,
            c7 = value_7, c8 = value_8, c9 = value_9, c10 = value_10, c11 = value_11, c12 = value_12,
            c13 = value_13, c14 = value_14, c15 = value_15, c16 = value_16, c17 = value_17,
            c18 = value_18, c19 = value_19, c20 = value_20
            WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        GET DIAGNOSTICS counted = ROW_COUNT;
        COMMIT;
        updated := updated + counted;
        commits := commits + 1;
    END LOOP;
END
$slice$
