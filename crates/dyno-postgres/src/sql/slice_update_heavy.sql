-- Gives all nineteen columns of each range new values, and commits each range.
--
-- c2 begins with the stamp of run, session and operation; every other column with a hash of it, so all values are new and
-- a row repeats nothing that would compress away. What follows is one of the tails that the client made for this slice.
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
        turn := numbers[i] % 18;
        stamp := prefix || lpad(to_hex(numbers[i]), 16, '0');
        value_2 := stamp || tails[1];
        value_3 := lpad(to_hex(hashtextextended(stamp, 3)), 16, '0') || tails[(turn + 3) % 18 + 2];
        value_4 := lpad(to_hex(hashtextextended(stamp, 4)), 16, '0') || tails[(turn + 4) % 18 + 2];
        value_5 := lpad(to_hex(hashtextextended(stamp, 5)), 16, '0') || tails[(turn + 5) % 18 + 2];
        value_6 := lpad(to_hex(hashtextextended(stamp, 6)), 16, '0') || tails[(turn + 6) % 18 + 2];
        value_7 := lpad(to_hex(hashtextextended(stamp, 7)), 16, '0') || tails[(turn + 7) % 18 + 2];
        value_8 := lpad(to_hex(hashtextextended(stamp, 8)), 16, '0') || tails[(turn + 8) % 18 + 2];
        value_9 := lpad(to_hex(hashtextextended(stamp, 9)), 16, '0') || tails[(turn + 9) % 18 + 2];
        value_10 := lpad(to_hex(hashtextextended(stamp, 10)), 16, '0') || tails[(turn + 10) % 18 + 2];
        value_11 := lpad(to_hex(hashtextextended(stamp, 11)), 16, '0') || tails[(turn + 11) % 18 + 2];
        value_12 := lpad(to_hex(hashtextextended(stamp, 12)), 16, '0') || tails[(turn + 12) % 18 + 2];
        value_13 := lpad(to_hex(hashtextextended(stamp, 13)), 16, '0') || tails[(turn + 13) % 18 + 2];
        value_14 := lpad(to_hex(hashtextextended(stamp, 14)), 16, '0') || tails[(turn + 14) % 18 + 2];
        value_15 := lpad(to_hex(hashtextextended(stamp, 15)), 16, '0') || tails[(turn + 15) % 18 + 2];
        value_16 := lpad(to_hex(hashtextextended(stamp, 16)), 16, '0') || tails[(turn + 16) % 18 + 2];
        value_17 := lpad(to_hex(hashtextextended(stamp, 17)), 16, '0') || tails[(turn + 17) % 18 + 2];
        value_18 := lpad(to_hex(hashtextextended(stamp, 18)), 16, '0') || tails[(turn + 18) % 18 + 2];
        value_19 := lpad(to_hex(hashtextextended(stamp, 19)), 16, '0') || tails[(turn + 19) % 18 + 2];
        value_20 := lpad(to_hex(hashtextextended(stamp, 20)), 16, '0') || tails[(turn + 20) % 18 + 2];
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
