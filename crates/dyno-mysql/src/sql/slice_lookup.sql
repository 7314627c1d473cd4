-- Reads the row of each key, one statement execution per key. `list` holds the keys, 20 digits each.
CREATE PROCEDURE dyno_slice_lookup_{n}(IN list LONGTEXT CHARACTER SET ascii)
READS SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
    DECLARE place BIGINT DEFAULT 1;
    DECLARE key_, selected, looked_up, scanned, updated, commits BIGINT DEFAULT 0;
    DECLARE value_ VARCHAR(255) CHARACTER SET ascii;
    WHILE place < LENGTH(list) DO
        SET key_ = SUBSTR(list, place, 20);
        SET value_ = NULL;
        SELECT c2 INTO value_ FROM dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_custid) WHERE custid = key_;
        SET looked_up = looked_up + (value_ IS NOT NULL);
        SET place = place + 20;
    END WHILE;
    SELECT selected, looked_up, scanned, updated, commits;
END
