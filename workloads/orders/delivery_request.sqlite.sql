-- name: ask
INSERT INTO delivery_queue (q_id, q_w_id, q_carrier_id, q_due, q_stale)
VALUES (:request_id, :w_id, :carrier_id, datetime('now', '+80 seconds'), datetime('now', '+160 seconds'));
