CREATE OR REPLACE PROCEDURE orders_new_order(p_w IN NUMBER, p_d IN NUMBER, p_c IN NUMBER, p_lines IN NUMBER, p_local IN NUMBER,
    p_items IN VARCHAR2(400), p_supplies IN VARCHAR2(400), p_quantities IN VARCHAR2(400), p_done OUT NUMBER) AS
    o INT; tax DECIMAL(4, 4); discount DECIMAL(4, 4); w DECIMAL(4, 4);
    last_name VARCHAR2(16); credit VARCHAR2(2); price DECIMAL(5, 2); dist VARCHAR2(24);
    item_now INT; supply_now INT; quantity_now INT;
BEGIN
    p_done := 0;
    SELECT c_discount, c_last, c_credit, w_tax INTO discount, last_name, credit, w FROM customer INNER JOIN warehouse ON w_id = c_w_id
        WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
    SELECT d_next_o_id, d_tax INTO o, tax FROM district WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
    UPDATE district SET d_next_o_id = o + 1 WHERE d_w_id = p_w AND d_id = p_d;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_lines, p_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (o, p_d, p_w);
    FOR line IN 1 .. p_lines LOOP
        item_now := SUBSTRING_INDEX(SUBSTRING_INDEX(p_items, ',', line), ',', -1);
        supply_now := SUBSTRING_INDEX(SUBSTRING_INDEX(p_supplies, ',', line), ',', -1);
        quantity_now := SUBSTRING_INDEX(SUBSTRING_INDEX(p_quantities, ',', line), ',', -1);
        BEGIN
            SELECT i_price INTO price FROM item WHERE i_id = item_now;
        EXCEPTION
            WHEN NO_DATA_FOUND THEN RETURN;
        END;
        UPDATE stock SET s_quantity = s_quantity - quantity_now + CASE WHEN s_quantity >= quantity_now + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + quantity_now, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + CASE WHEN supply_now = p_w THEN 0 ELSE 1 END
            WHERE s_w_id = supply_now AND s_i_id = item_now;
        SELECT CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
            WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
            INTO dist FROM stock WHERE s_w_id = supply_now AND s_i_id = item_now;
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
            VALUES (o, p_d, p_w, line, item_now, supply_now, quantity_now, quantity_now * price, dist);
    END LOOP;
    p_done := 1;
END;
