-- name: all
CALL orders_stock_level(:w_id, :stock_d_id, :threshold);
