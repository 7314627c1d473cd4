-- name: all
CALL orders_delivery(:at_w_id, :at_carrier_id);
-- name: oldest_request
-- If another session holds it, this one skips it.
SELECT q_id, q_w_id, q_carrier_id FROM delivery_queue WHERE q_id = (SELECT MIN(q_id) FROM delivery_queue) FOR UPDATE SKIP LOCKED;
-- name: request_done
DELETE FROM delivery_queue WHERE q_id = :q_id;
-- name: result
INSERT INTO delivery_result (r_id, r_w_id, r_due, r_done)
SELECT q_id, q_w_id, q_due, CURRENT_TIMESTAMP FROM delivery_queue WHERE q_id = :q_id;
