-- name: ask
INSERT INTO delivery_queue (q_id, q_w_id, q_carrier_id, q_due)
VALUES (:request_id, :w_id, :carrier_id, CURRENT_TIMESTAMP + INTERVAL '80' SECOND);
