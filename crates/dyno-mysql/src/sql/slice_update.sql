-- Gives columns of each range new values, each range committed by itself (autocommit). `list` holds the first key and the
-- number of each operation, 20 digits each.
--
-- c2 begins with the stamp of run, session and operation; every other column with a part of its hash and the column's
-- number, so all values are new and a row repeats nothing that would compress away. What follows is one of the tails that
-- the client made for this slice.
CREATE PROCEDURE dyno_slice_update_{redo}_{n}(
    IN list LONGTEXT CHARACTER SET ascii, IN work_unit BIGINT, IN prefix VARCHAR(255) CHARACTER SET ascii,
    IN tail VARCHAR(255) CHARACTER SET ascii, IN tails TEXT CHARACTER SET ascii)
MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
    DECLARE place BIGINT DEFAULT 1;
    DECLARE first_key, number_, selected, looked_up, scanned, updated, commits BIGINT DEFAULT 0;
    DECLARE stamp, hash_ VARCHAR(255) CHARACTER SET ascii;
    WHILE place < LENGTH(list) DO
        SET first_key = SUBSTR(list, place, 20);
        SET number_ = SUBSTR(list, place + 20, 20);
        SET stamp = CONCAT(prefix, LOWER(LPAD(HEX(number_), 16, '0')));
        SET hash_ = LEFT(SHA2(stamp, 256), 14);
        UPDATE dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_custid)
            SET ver = ver + 1, {set}
            WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        SET updated = updated + ROW_COUNT();
        SET commits = commits + 1;
        SET place = place + 40;
    END WHILE;
    SELECT selected, looked_up, scanned, updated, commits;
END
