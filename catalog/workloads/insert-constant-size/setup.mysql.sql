-- New rows have the next number.
ALTER TABLE steady_rows MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
