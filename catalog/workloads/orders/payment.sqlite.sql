-- name: pay_warehouse
UPDATE warehouse SET w_ytd = w_ytd + :paid WHERE w_id = :w_id;
-- name: warehouse
SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = :w_id;
-- name: pay_district
UPDATE district SET d_ytd = d_ytd + :paid WHERE d_w_id = :w_id AND d_id = :d_id;
-- name: district
SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = :w_id AND d_id = :d_id;
-- name: named
SELECT c_id FROM (
    SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
    FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_last = :c_last) found
WHERE 2 * place IN (many, many + 1);
-- name: customer
SELECT CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END, c_balance, c_first, c_middle, c_last, c_street_1, c_city, c_state, c_zip, c_phone,
    c_credit_lim, c_discount, c_since
FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :whose;
-- name: data
SELECT c_data FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :whose;
-- name: pay_bad
UPDATE customer SET c_balance = c_balance - :paid, c_ytd_payment = c_ytd_payment + :paid, c_payment_cnt = c_payment_cnt + 1,
    c_data = SUBSTR(:new_data, 1, 500)
WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :whose;
-- name: pay
UPDATE customer SET c_balance = c_balance - :paid, c_ytd_payment = c_ytd_payment + :paid, c_payment_cnt = c_payment_cnt + 1
WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :whose;
-- name: note
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (:whose, :c_d_id, :c_w_id, :d_id, :w_id, CURRENT_TIMESTAMP, :paid, :h_data);
