-- Counts the rows of each range, one statement execution per range. `list` holds the first keys, 20 digits each.
CREATE PROCEDURE dyno_slice_select_{n}(IN list LONGTEXT CHARACTER SET ascii, IN work_unit BIGINT)
READS SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
    DECLARE place BIGINT DEFAULT 1;
    DECLARE first_key, counted, selected, looked_up, scanned, updated, commits BIGINT DEFAULT 0;
    WHILE place < LENGTH(list) DO
        SET first_key = SUBSTR(list, place, 20);
        SELECT COUNT(c2) INTO counted FROM dyno_rows_{n} FORCE INDEX (dyno_rows_{n}_custid)
            WHERE custid BETWEEN first_key AND first_key + work_unit - 1;
        SET selected = selected + counted;
        SET place = place + 20;
    END WHILE;
    SELECT selected, looked_up, scanned, updated, commits;
END
