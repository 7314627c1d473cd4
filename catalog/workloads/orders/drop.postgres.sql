DROP PROCEDURE IF EXISTS orders_new_order;
DROP PROCEDURE IF EXISTS orders_payment;
DROP PROCEDURE IF EXISTS orders_order_status;
DROP PROCEDURE IF EXISTS orders_delivery;
DROP PROCEDURE IF EXISTS orders_stock_level;
