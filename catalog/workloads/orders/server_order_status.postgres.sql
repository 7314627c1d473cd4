-- name: all
CALL orders_order_status(:w_id, :d_id, :by_name, :c_last, :c_id, 0);
