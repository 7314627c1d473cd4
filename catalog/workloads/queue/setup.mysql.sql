-- New rows have the next number.
ALTER TABLE queue_jobs MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
