SELECT o.order_no, o.day, l.line, l.item, l.quantity
  FROM shop_orders o JOIN shop_lines l ON l.customer = o.customer AND l.order_no = o.order_no
 WHERE o.customer = :customer
 ORDER BY o.order_no, l.line
