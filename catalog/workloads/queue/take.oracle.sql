-- The oldest job; if another session holds it, this one skips it.
-- name: oldest
SELECT id, payload FROM queue_jobs WHERE id = (SELECT MIN(id) FROM queue_jobs) FOR UPDATE SKIP LOCKED;
-- name: remove
DELETE FROM queue_jobs WHERE id = :job;
-- name: note
UPDATE queue_lanes SET taken = taken + 1 WHERE lane = :lane;
