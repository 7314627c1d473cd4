-- name: all
CALL orders_payment(:w_id, :d_id, :c_w_id, :c_d_id, :by_name, :c_last, :c_id, :paid, 0);
