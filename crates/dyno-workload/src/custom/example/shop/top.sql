SELECT item, price * quantity FROM shop_stock WHERE item BETWEEN :item AND :item + 99
 ORDER BY price * quantity DESC LIMIT 10
