-- Counts the rows of each value of the secondary key, one statement execution per value. `list` holds the values, 20 digits
-- each.
CREATE PROCEDURE dyno_slice_secondary_{n}(IN list LONGTEXT CHARACTER SET ascii)
READS SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
    DECLARE place BIGINT DEFAULT 1;
    DECLARE value_, counted BIGINT DEFAULT 0;
    DECLARE selected, looked_up, scanned, by_secondary, updated, inserted, deleted, commits BIGINT DEFAULT 0;
    WHILE place < LENGTH(list) DO
        SET value_ = SUBSTR(list, place, 20);
        SELECT COUNT(c2) INTO counted FROM dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_sec) WHERE sec = value_;
        SET by_secondary = by_secondary + counted;
        SET place = place + 20;
    END WHILE;
    SELECT selected, looked_up, scanned, by_secondary, updated, inserted, deleted, commits;
END
