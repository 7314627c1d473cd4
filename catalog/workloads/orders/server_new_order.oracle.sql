-- name: all
CALL orders_new_order(:w_id, :d_id, :c_id, :lines, :all_local, :items, :supplies, :quantities);
