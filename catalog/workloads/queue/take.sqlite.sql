-- The oldest job; transactions that write are one after the other, so no other session has it.
-- name: oldest
SELECT id, payload FROM queue_jobs ORDER BY id LIMIT 1;
-- name: remove
DELETE FROM queue_jobs WHERE id = :job;
-- name: note
UPDATE queue_lanes SET taken = taken + 1 WHERE lane = :lane;
