CREATE OR REPLACE PROCEDURE orders_delivery(p_w IN NUMBER, p_carrier IN NUMBER, p_skipped OUT NUMBER) AS
    o INT; c INT; total DECIMAL(12, 2); taken INT;
BEGIN
    p_skipped := 0;
    FOR district_number IN 1 .. 10 LOOP
        LOOP
            SELECT MIN(no_o_id) INTO o FROM new_order WHERE no_w_id = p_w AND no_d_id = district_number;
            EXIT WHEN o IS NULL;
            DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = district_number AND no_o_id = o;
            taken := SQL%ROWCOUNT;
            EXIT WHEN taken = 1;
        END LOOP;
        IF o IS NULL THEN
            p_skipped := p_skipped + 1;
        ELSE
            UPDATE orders SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = district_number AND o_id = o;
            SELECT o_c_id INTO c FROM orders WHERE o_w_id = p_w AND o_d_id = district_number AND o_id = o;
            UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = p_w AND ol_d_id = district_number AND ol_o_id = o;
            SELECT SUM(ol_amount) INTO total FROM order_line WHERE ol_w_id = p_w AND ol_d_id = district_number AND ol_o_id = o;
            UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
                WHERE c_w_id = p_w AND c_d_id = district_number AND c_id = c;
        END IF;
    END LOOP;
END;
