DROP TABLE shop_lines;
DROP TABLE shop_orders;
DROP TABLE shop_stock;
DROP TABLE shop_customers;
