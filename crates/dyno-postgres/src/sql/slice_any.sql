-- Does operations of all classes in their order: slice_mixed for plans that also insert, delete, or look up by the secondary key.
-- Kinds: 0 select, 1 lookup, 2 scan, 3 update, 4 lookup by the secondary key, 5 insert, 6 delete.
--
-- Updates are those of slice_update_{redo}; rows are inserted with nineteen values of the same making. Each write is committed.
CREATE OR REPLACE PROCEDURE dyno.slice_any_{redo}_{n}(
    kinds int2[], firsts int8[], numbers int8[], work_unit int8, prefix text, tails text[],
    INOUT selected int8, INOUT looked_up int8, INOUT scanned int8, INOUT by_secondary int8,
    INOUT updated int8, INOUT inserted int8, INOUT deleted int8, INOUT commits int8
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
        ELSIF kind = 4 THEN
            SELECT COUNT(c2) INTO counted FROM dyno.rows_{n} WHERE ({secondary}) = first_key;
            by_secondary := by_secondary + counted;
        ELSIF kind = 6 THEN
            DELETE FROM dyno.rows_{n} WHERE custid = first_key;
            GET DIAGNOSTICS counted = ROW_COUNT;
            COMMIT;
            deleted := deleted + counted;
            commits := commits + 1;
        ELSE
            turn := numbers[i] % 18;
            stamp := prefix || lpad(to_hex(numbers[i]), 16, '0');
            IF kind = 3 THEN
                {assign}
                UPDATE dyno.rows_{n} SET ver = ver + 1, {set}
                    WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
                GET DIAGNOSTICS counted = ROW_COUNT;
                COMMIT;
                updated := updated + counted;
            ELSE
                INSERT INTO dyno.rows_{n} (custid, {columns}) VALUES (first_key, {values});
                GET DIAGNOSTICS counted = ROW_COUNT;
                COMMIT;
                inserted := inserted + counted;
            END IF;
            commits := commits + 1;
        END IF;
    END LOOP;
END
$slice$
