-- New rows get the next number.
ALTER TABLE queue_jobs MODIFY id BIGINT NOT NULL AUTO_INCREMENT;
