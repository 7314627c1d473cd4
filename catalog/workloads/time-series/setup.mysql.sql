-- New rows get the next number.
ALTER TABLE ts_points MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
