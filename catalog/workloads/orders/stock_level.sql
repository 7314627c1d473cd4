-- name: district
SELECT d_next_o_id FROM district WHERE d_w_id = :w_id AND d_id = :stock_d_id;
-- name: low
SELECT COUNT(DISTINCT s_i_id) FROM order_line INNER JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
WHERE ol_w_id = :w_id AND ol_d_id = :stock_d_id AND ol_o_id < :o_id AND ol_o_id >= :o_id - 20 AND s_quantity < :threshold;
