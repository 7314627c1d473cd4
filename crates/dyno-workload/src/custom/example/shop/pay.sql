UPDATE shop_customers SET balance = balance - :amount, note = :note WHERE id = :customer;
UPDATE shop_customers SET balance = balance + :amount WHERE id = :neighbour;
