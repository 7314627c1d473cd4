-- A sequence as in MySQL's manual: one row that counts.
CREATE TABLE suite_server_numbers (value BIGINT NOT NULL);
INSERT INTO suite_server_numbers VALUES (0);
