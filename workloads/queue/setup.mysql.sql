-- 1,000 jobs that wait, and 100 lanes in which sessions count what they have put and taken.
CREATE TABLE queue_jobs (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, payload VARCHAR(200) NOT NULL);
CREATE TABLE queue_lanes (lane INT NOT NULL PRIMARY KEY, put BIGINT NOT NULL, taken BIGINT NOT NULL);
CREATE TABLE queue_digits (d INT NOT NULL PRIMARY KEY);
INSERT INTO queue_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO queue_jobs (payload) SELECT 'from the beginning' FROM queue_digits a, queue_digits b, queue_digits c;
INSERT INTO queue_lanes SELECT 1 + a.d + 10 * b.d, 10, 0 FROM queue_digits a, queue_digits b;
DROP TABLE queue_digits;
