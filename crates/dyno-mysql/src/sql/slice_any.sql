-- Does operations of all classes in their order: slice_mixed for plans that also insert, delete, or look up by the secondary
-- key. `list` holds for each operation its kind (0 select, 1 lookup, 2 scan, 3 update, 4 lookup by the secondary key, 5 insert,
-- 6 delete), its first key and its number: 1, 20 and 20 digits.
--
-- Updates are those of slice_update; rows are inserted, behind their spacers, with nineteen values of the same making and with
-- `filler` in their pad, which is turned by the operation's number. Each write is committed by itself (autocommit).
CREATE PROCEDURE dyno_slice_any_{redo}_{n}(
    IN list LONGTEXT CHARACTER SET ascii, IN work_unit BIGINT, IN prefix VARCHAR(255) CHARACTER SET ascii,
    IN tail VARCHAR(255) CHARACTER SET ascii, IN tails TEXT CHARACTER SET ascii, IN filler TEXT CHARACTER SET ascii)
MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
    DECLARE place BIGINT DEFAULT 1;
    DECLARE kind, first_key, number_, turn, counted BIGINT DEFAULT 0;
    DECLARE selected, looked_up, scanned, by_secondary, updated, inserted, deleted, commits BIGINT DEFAULT 0;
    DECLARE value_, stamp, hash_ VARCHAR(255) CHARACTER SET ascii;
    WHILE place < LENGTH(list) DO
        SET kind = SUBSTR(list, place, 1);
        SET first_key = SUBSTR(list, place + 1, 20);
        IF kind = 0 THEN
            SELECT COUNT(c2) INTO counted FROM dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_custid)
                WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
            SET selected = selected + counted;
        ELSEIF kind = 1 THEN
            SET value_ = NULL;
            SELECT c2 INTO value_ FROM dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_custid) WHERE custid = first_key;
            SET looked_up = looked_up + (value_ IS NOT NULL);
        ELSEIF kind = 2 THEN
            SELECT COUNT(c2) INTO counted FROM dyno_scan_{n};
            SET scanned = scanned + counted;
        ELSEIF kind = 4 THEN
            SELECT COUNT(c2) INTO counted FROM dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_sec) WHERE sec = first_key;
            SET by_secondary = by_secondary + counted;
        ELSEIF kind = 6 THEN
            DELETE FROM dyno_rows_{n}
                WHERE id BETWEEN first_key * {records} - {spacers} AND first_key * {records};
            SET deleted = deleted + ROW_COUNT() DIV {records};
            SET commits = commits + 1;
        ELSE
            SET number_ = SUBSTR(list, place + 21, 20);
            SET stamp = CONCAT(prefix, LOWER(LPAD(HEX(number_), 16, '0')));
            SET hash_ = LEFT(SHA2(stamp, 256), 14);
            IF kind = 3 THEN
                UPDATE dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_custid)
                    SET ver = ver + 1, {set}
                    WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
                SET updated = updated + ROW_COUNT();
            ELSE
                SET turn = number_ MOD LENGTH(filler);
                {insert};
                SET inserted = inserted + ROW_COUNT() DIV {records};
            END IF;
            SET commits = commits + 1;
        END IF;
        SET place = place + 41;
    END WHILE;
    SELECT selected, looked_up, scanned, by_secondary, updated, inserted, deleted, commits;
END
