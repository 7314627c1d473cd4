-- name: oldest
SELECT no_o_id FROM new_order WHERE no_w_id = :at_w_id AND no_d_id = :district ORDER BY no_o_id FETCH FIRST 1 ROW ONLY;
-- name: oldest_locked
SELECT no_o_id FROM new_order WHERE no_w_id = :at_w_id AND no_d_id = :district
AND no_o_id = (SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = :at_w_id AND no_d_id = :district) FOR UPDATE;
-- name: taken
DELETE FROM new_order WHERE no_w_id = :at_w_id AND no_d_id = :district AND no_o_id = :o_id;
-- name: order
SELECT o_c_id FROM orders WHERE o_w_id = :at_w_id AND o_d_id = :district AND o_id = :o_id;
-- name: carry
UPDATE orders SET o_carrier_id = :at_carrier_id WHERE o_w_id = :at_w_id AND o_d_id = :district AND o_id = :o_id;
-- name: deliver
UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = :at_w_id AND ol_d_id = :district AND ol_o_id = :o_id;
-- name: sum
SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = :at_w_id AND ol_d_id = :district AND ol_o_id = :o_id;
-- name: credit
UPDATE customer SET c_balance = c_balance + :total, c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = :at_w_id AND c_d_id = :district AND c_id = :o_c_id;
-- name: taken_all
DELETE FROM new_order WHERE (no_w_id, no_d_id, no_o_id) IN ((:at_w_id, 1, :o_1), (:at_w_id, 2, :o_2), (:at_w_id, 3, :o_3), (:at_w_id, 4, :o_4), (:at_w_id, 5, :o_5), (:at_w_id, 6, :o_6), (:at_w_id, 7, :o_7), (:at_w_id, 8, :o_8), (:at_w_id, 9, :o_9), (:at_w_id, 10, :o_10));
-- name: carry_all
UPDATE orders SET o_carrier_id = :at_carrier_id WHERE (o_w_id, o_d_id, o_id) IN ((:at_w_id, 1, :o_1), (:at_w_id, 2, :o_2), (:at_w_id, 3, :o_3), (:at_w_id, 4, :o_4), (:at_w_id, 5, :o_5), (:at_w_id, 6, :o_6), (:at_w_id, 7, :o_7), (:at_w_id, 8, :o_8), (:at_w_id, 9, :o_9), (:at_w_id, 10, :o_10));
-- name: orders
SELECT o_d_id, o_c_id FROM orders WHERE (o_w_id, o_d_id, o_id) IN ((:at_w_id, 1, :o_1), (:at_w_id, 2, :o_2), (:at_w_id, 3, :o_3), (:at_w_id, 4, :o_4), (:at_w_id, 5, :o_5), (:at_w_id, 6, :o_6), (:at_w_id, 7, :o_7), (:at_w_id, 8, :o_8), (:at_w_id, 9, :o_9), (:at_w_id, 10, :o_10));
-- name: deliver_all
UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE (ol_w_id, ol_d_id, ol_o_id) IN ((:at_w_id, 1, :o_1), (:at_w_id, 2, :o_2), (:at_w_id, 3, :o_3), (:at_w_id, 4, :o_4), (:at_w_id, 5, :o_5), (:at_w_id, 6, :o_6), (:at_w_id, 7, :o_7), (:at_w_id, 8, :o_8), (:at_w_id, 9, :o_9), (:at_w_id, 10, :o_10));
-- name: sums
SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE (ol_w_id, ol_d_id, ol_o_id) IN ((:at_w_id, 1, :o_1), (:at_w_id, 2, :o_2), (:at_w_id, 3, :o_3), (:at_w_id, 4, :o_4), (:at_w_id, 5, :o_5), (:at_w_id, 6, :o_6), (:at_w_id, 7, :o_7), (:at_w_id, 8, :o_8), (:at_w_id, 9, :o_9), (:at_w_id, 10, :o_10)) GROUP BY ol_d_id;
-- name: credit_of
UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1,
    c_balance = c_balance + (SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = :at_w_id AND ol_d_id = :district AND ol_o_id = :o_id)
WHERE c_w_id = :at_w_id AND c_d_id = :district
AND c_id = (SELECT o_c_id FROM orders WHERE o_w_id = :at_w_id AND o_d_id = :district AND o_id = :o_id);
-- name: oldest_request
-- If another session holds it, this one skips it.
SELECT q_id, q_w_id, q_carrier_id FROM delivery_queue WHERE q_id = (SELECT MIN(q_id) FROM delivery_queue) FOR UPDATE SKIP LOCKED;
-- name: request_done
DELETE FROM delivery_queue WHERE q_id = :q_id;
-- name: result
INSERT INTO delivery_result (r_id, r_w_id, r_due, r_done)
SELECT q_id, q_w_id, q_due, CURRENT_TIMESTAMP FROM delivery_queue WHERE q_id = :q_id;
