-- name: named
SELECT c_id FROM (
    SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
    FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :c_last) found
WHERE 2 * place IN (many, many + 1);
-- name: customer
SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :whose;
-- name: last
SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_c_id = :whose ORDER BY o_id DESC FETCH FIRST 1 ROW ONLY;
-- name: lines
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;
