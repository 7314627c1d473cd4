-- The statements of an order. A comment `-- name: …` gives the statement behind it the name that steps run it by.

-- name: take_number
UPDATE shop_customers SET orders = orders + 1 WHERE id = :customer;

-- name: read_number
SELECT orders FROM shop_customers WHERE id = :customer;

-- name: add_order
INSERT INTO shop_orders (customer, order_no, day, line_count) VALUES (:customer, :number, :day, :lines);

-- name: read_stock
SELECT quantity FROM shop_stock WHERE item = :item;

-- name: take_stock
UPDATE shop_stock SET quantity = quantity - :quantity WHERE item = :item;

-- name: add_line
INSERT INTO shop_lines (customer, order_no, line, item, quantity) VALUES (:customer, :number, :line, :item, :quantity);
