-- name: customer
SELECT c_discount, c_last, c_credit, w_tax FROM customer INNER JOIN warehouse ON w_id = c_w_id
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;
-- name: district
SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = :w_id AND d_id = :d_id;
-- name: district_locked
SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = :w_id AND d_id = :d_id FOR UPDATE;
-- name: next
UPDATE district SET d_next_o_id = :next_o_id WHERE d_w_id = :w_id AND d_id = :d_id;
-- name: add_order
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
VALUES (:o_id, :d_id, :w_id, :c_id, CURRENT_TIMESTAMP, :lines, :all_local);
-- name: add_new_order
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (:o_id, :d_id, :w_id);
-- name: item
SELECT i_price, i_name, i_data FROM item WHERE i_id = :item;
-- name: stock
SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt, s_data, CASE :d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END FROM stock WHERE s_w_id = :supply_w_id AND s_i_id = :item;
-- name: stock_locked
SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt, s_data, CASE :d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END FROM stock WHERE s_w_id = :supply_w_id AND s_i_id = :item FOR UPDATE;
-- name: take
UPDATE stock SET s_quantity = :left, s_ytd = :ytd, s_order_cnt = :order_cnt, s_remote_cnt = :remote_cnt
WHERE s_w_id = :supply_w_id AND s_i_id = :item;
-- name: add_line
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
VALUES (:o_id, :d_id, :w_id, :line, :item, :supply_w_id, :quantity, :amount, :s_dist);
-- name: items
SELECT i_price, i_name, i_data, i_id FROM item WHERE i_id IN (:item_1, :item_2, :item_3, :item_4, :item_5, :item_6, :item_7, :item_8, :item_9, :item_10, :item_11, :item_12, :item_13, :item_14, :item_15);
-- name: stocks
SELECT s_i_id, s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock
WHERE (s_w_id, s_i_id) IN ((:supply_1, :item_1), (:supply_2, :item_2), (:supply_3, :item_3), (:supply_4, :item_4), (:supply_5, :item_5), (:supply_6, :item_6), (:supply_7, :item_7), (:supply_8, :item_8), (:supply_9, :item_9), (:supply_10, :item_10), (:supply_11, :item_11), (:supply_12, :item_12), (:supply_13, :item_13), (:supply_14, :item_14), (:supply_15, :item_15));
-- name: stocks_locked
SELECT s_i_id, s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock
WHERE (s_w_id, s_i_id) IN ((:supply_1, :item_1), (:supply_2, :item_2), (:supply_3, :item_3), (:supply_4, :item_4), (:supply_5, :item_5), (:supply_6, :item_6), (:supply_7, :item_7), (:supply_8, :item_8), (:supply_9, :item_9), (:supply_10, :item_10), (:supply_11, :item_11), (:supply_12, :item_12), (:supply_13, :item_13), (:supply_14, :item_14), (:supply_15, :item_15)) FOR UPDATE;
-- name: take_of_line
UPDATE stock SET s_quantity = s_quantity - :quantity + CASE WHEN s_quantity >= :quantity + 10 THEN 0 ELSE 91 END,
    s_ytd = s_ytd + :quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + CASE WHEN :supply_w_id = :w_id THEN 0 ELSE 1 END
WHERE s_w_id = :supply_w_id AND s_i_id = :item;
-- name: add_lines
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
SELECT :o_id, :d_id, :w_id, number, item, supply, quantity, quantity * i_price, CASE :d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
FROM (SELECT 1 AS number, :item_1 AS item, :supply_1 AS supply, :quantity_1 AS quantity
    UNION ALL SELECT 2, :item_2, :supply_2, :quantity_2
    UNION ALL SELECT 3, :item_3, :supply_3, :quantity_3
    UNION ALL SELECT 4, :item_4, :supply_4, :quantity_4
    UNION ALL SELECT 5, :item_5, :supply_5, :quantity_5
    UNION ALL SELECT 6, :item_6, :supply_6, :quantity_6
    UNION ALL SELECT 7, :item_7, :supply_7, :quantity_7
    UNION ALL SELECT 8, :item_8, :supply_8, :quantity_8
    UNION ALL SELECT 9, :item_9, :supply_9, :quantity_9
    UNION ALL SELECT 10, :item_10, :supply_10, :quantity_10
    UNION ALL SELECT 11, :item_11, :supply_11, :quantity_11
    UNION ALL SELECT 12, :item_12, :supply_12, :quantity_12
    UNION ALL SELECT 13, :item_13, :supply_13, :quantity_13
    UNION ALL SELECT 14, :item_14, :supply_14, :quantity_14
    UNION ALL SELECT 15, :item_15, :supply_15, :quantity_15) line
INNER JOIN item ON i_id = item INNER JOIN stock ON s_w_id = supply AND s_i_id = item;
