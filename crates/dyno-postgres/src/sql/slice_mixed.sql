-- Does operations of several classes in their order, updates as in slice_update_{redo}.
-- Kinds: 0 select, 1 lookup, 2 scan, 3 update.
CREATE OR REPLACE PROCEDURE dyno.slice_mixed_{redo}_{n}(
    kinds int2[], firsts int8[], numbers int8[], work_unit int8, prefix text, tails text[],
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT updated int8, INOUT commits int8
) LANGUAGE plpgsql AS $slice$
DECLARE
    kind int2;
    first_key int8;
    counted int8;
    value text;
    turn int8;
    stamp text;
    {declare}
BEGIN
    FOR i IN 1 .. cardinality(kinds) LOOP
        kind := kinds[i];
        first_key := firsts[i];
        IF kind = 0 THEN
            SELECT COUNT(c2) INTO counted FROM dyno.rows_{n}
                WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
            selected := selected + counted;
        ELSIF kind = 1 THEN
            SELECT c2 INTO value FROM dyno.rows_{n} WHERE custid = first_key;
            IF FOUND THEN
                looked_up := looked_up + 1;
            END IF;
        ELSIF kind = 2 THEN
            SELECT COUNT(c2) INTO counted FROM dyno.scan_{n};
            scanned := scanned + counted;
        ELSE
            turn := numbers[i] % 18;
            stamp := prefix || lpad(to_hex(numbers[i]), 16, '0');
            {assign}
            UPDATE dyno.rows_{n} SET ver = ver + 1, {set}
                WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
            GET DIAGNOSTICS counted = ROW_COUNT;
            COMMIT;
            updated := updated + counted;
            commits := commits + 1;
        END IF;
    END LOOP;
END
$slice$
