-- name: all
CALL orders_delivery(:w_id, :carrier_id, 0);
