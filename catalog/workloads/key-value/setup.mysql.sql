-- New rows get the next number.
ALTER TABLE kv_records MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
