-- As top.sql; what MySQL does in another way is told it here.
SELECT /*+ MAX_EXECUTION_TIME(1000) */ item, price * quantity FROM shop_stock WHERE item BETWEEN :item AND :item + 99
 ORDER BY price * quantity DESC LIMIT 10
