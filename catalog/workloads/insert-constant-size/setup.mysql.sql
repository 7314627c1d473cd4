-- New rows get the next number.
ALTER TABLE steady_rows MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
