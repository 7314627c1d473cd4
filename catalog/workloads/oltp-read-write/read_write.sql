-- The statements of sysbench's oltp_read_write, each after the name by which steps run it.

-- name: point
SELECT c FROM oltp_rows WHERE id = :id;

-- name: range
SELECT c FROM oltp_rows WHERE id BETWEEN :first AND :first + 99;

-- name: sum
SELECT SUM(k) FROM oltp_rows WHERE id BETWEEN :first AND :first + 99;

-- name: ordered
SELECT c FROM oltp_rows WHERE id BETWEEN :first AND :first + 99 ORDER BY c;

-- name: distinct
SELECT DISTINCT c FROM oltp_rows WHERE id BETWEEN :first AND :first + 99 ORDER BY c;

-- name: update_indexed
UPDATE oltp_rows SET k = k + 1 WHERE id = :indexed;

-- name: update_plain
UPDATE oltp_rows SET c = :c WHERE id = :plain;

-- name: remove
DELETE FROM oltp_rows WHERE id = :other;

-- name: add
INSERT INTO oltp_rows (id, k, c, pad) VALUES (:other, :k, :c, :pad);
