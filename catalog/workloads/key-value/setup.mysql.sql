-- New rows have the next number.
ALTER TABLE kv_records MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
