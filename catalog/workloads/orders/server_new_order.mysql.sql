-- name: all
CALL orders_new_order(:w_id, :d_id, :c_id, :lines, :all_local,
    :item_1, :item_2, :item_3, :item_4, :item_5, :item_6, :item_7, :item_8, :item_9, :item_10, :item_11, :item_12, :item_13, :item_14, :item_15,
    :supply_1, :supply_2, :supply_3, :supply_4, :supply_5, :supply_6, :supply_7, :supply_8, :supply_9, :supply_10, :supply_11, :supply_12, :supply_13, :supply_14, :supply_15,
    :quantity_1, :quantity_2, :quantity_3, :quantity_4, :quantity_5, :quantity_6, :quantity_7, :quantity_8, :quantity_9, :quantity_10, :quantity_11, :quantity_12, :quantity_13, :quantity_14, :quantity_15);
