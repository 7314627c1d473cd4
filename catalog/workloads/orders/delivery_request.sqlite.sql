-- name: ask
INSERT INTO delivery_queue (q_id, q_w_id, q_carrier_id, q_due)
VALUES (:request_id, :w_id, :carrier_id, datetime('now', '+80 seconds'));
