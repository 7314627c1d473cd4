-- Tables of the shop, and what is in them at first: 10,000 customers, 10,000 items, no orders.
-- Plain SQL, so that it runs on every engine.

CREATE TABLE shop_customers (
  id       INT           NOT NULL PRIMARY KEY,
  name     VARCHAR(40)   NOT NULL,
  orders   INT           NOT NULL,
  balance  DECIMAL(12,2) NOT NULL,
  note     VARCHAR(80)   NOT NULL
);

CREATE TABLE shop_stock (
  item     INT           NOT NULL PRIMARY KEY,
  price    DECIMAL(8,2)  NOT NULL,
  quantity INT           NOT NULL
);

CREATE TABLE shop_orders (
  customer INT           NOT NULL,
  order_no INT           NOT NULL,
  day      DATE          NOT NULL,
  line_count   INT           NOT NULL,
  PRIMARY KEY (customer, order_no)
);

CREATE TABLE shop_lines (
  customer INT           NOT NULL,
  order_no INT           NOT NULL,
  line     INT           NOT NULL,
  item     INT           NOT NULL,
  quantity INT           NOT NULL,
  PRIMARY KEY (customer, order_no, line)
);

CREATE TABLE shop_digits (d INT NOT NULL PRIMARY KEY);

INSERT INTO shop_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);

INSERT INTO shop_customers
SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d, 'somebody', 0, 0, ''
  FROM shop_digits a, shop_digits b, shop_digits c, shop_digits e;

INSERT INTO shop_stock
SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d, 1 + a.d + 10 * b.d, 100000
  FROM shop_digits a, shop_digits b, shop_digits c, shop_digits e;

DROP TABLE shop_digits;
