-- Counts the rows of the table without an index, `times` times.
CREATE PROCEDURE dyno_slice_scan_{n}(IN times BIGINT)
READS SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
    DECLARE counted, selected, looked_up, scanned, updated, commits BIGINT DEFAULT 0;
    WHILE times > 0 DO
        SELECT COUNT(c2) INTO counted FROM dyno_scan_{n};
        SET scanned = scanned + counted;
        SET times = times - 1;
    END WHILE;
    SELECT selected, looked_up, scanned, updated, commits;
END
