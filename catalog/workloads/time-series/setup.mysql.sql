-- New rows have the next number.
ALTER TABLE ts_points MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
