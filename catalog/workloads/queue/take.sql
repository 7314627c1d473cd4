-- The oldest job that no other session has taken.
-- name: oldest
SELECT id, payload FROM queue_jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- name: remove
DELETE FROM queue_jobs WHERE id = :job;
-- name: note
UPDATE queue_lanes SET taken = taken + 1 WHERE lane = :lane;
