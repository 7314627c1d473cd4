-- The oldest job; writing transactions run one at a time, so no other session holds it.
-- name: oldest
SELECT id, payload FROM queue_jobs ORDER BY id LIMIT 1;
-- name: remove
DELETE FROM queue_jobs WHERE id = :job;
-- name: note
UPDATE queue_lanes SET taken = taken + 1 WHERE lane = :lane;
