-- Each only if it exists.
BEGIN
    FOR made IN (SELECT object_name FROM user_procedures WHERE object_type = 'PROCEDURE' AND object_name IN
        ('ORDERS_NEW_ORDER', 'ORDERS_PAYMENT', 'ORDERS_ORDER_STATUS', 'ORDERS_DELIVERY', 'ORDERS_STOCK_LEVEL')) LOOP
        EXECUTE IMMEDIATE 'DROP PROCEDURE ' || made.object_name;
    END LOOP;
END;
/
