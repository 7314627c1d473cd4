-- One procedure for each transaction, for drive=server. The row that it returns is the result.
DROP PROCEDURE IF EXISTS orders_new_order;
DROP PROCEDURE IF EXISTS orders_payment;
DROP PROCEDURE IF EXISTS orders_order_status;
DROP PROCEDURE IF EXISTS orders_delivery;
DROP PROCEDURE IF EXISTS orders_stock_level;
CREATE PROCEDURE orders_new_order(p_w INT, p_d INT, p_c INT, p_lines INT, p_local INT,
    p_item_1 INT, p_item_2 INT, p_item_3 INT, p_item_4 INT, p_item_5 INT,
    p_item_6 INT, p_item_7 INT, p_item_8 INT, p_item_9 INT, p_item_10 INT,
    p_item_11 INT, p_item_12 INT, p_item_13 INT, p_item_14 INT, p_item_15 INT,
    p_supply_1 INT, p_supply_2 INT, p_supply_3 INT, p_supply_4 INT, p_supply_5 INT,
    p_supply_6 INT, p_supply_7 INT, p_supply_8 INT, p_supply_9 INT, p_supply_10 INT,
    p_supply_11 INT, p_supply_12 INT, p_supply_13 INT, p_supply_14 INT, p_supply_15 INT,
    p_quantity_1 INT, p_quantity_2 INT, p_quantity_3 INT, p_quantity_4 INT, p_quantity_5 INT,
    p_quantity_6 INT, p_quantity_7 INT, p_quantity_8 INT, p_quantity_9 INT, p_quantity_10 INT,
    p_quantity_11 INT, p_quantity_12 INT, p_quantity_13 INT, p_quantity_14 INT, p_quantity_15 INT)
BEGIN
    DECLARE o, added, line, item_now, supply_now, quantity_now INT;
    DECLARE is_done INT DEFAULT 1;
    DECLARE tax, discount, w DECIMAL(4, 4);
    DECLARE last_name VARCHAR(16);
    DECLARE credit CHAR(2);
    SELECT c_discount, c_last, c_credit, w_tax INTO discount, last_name, credit, w FROM customer JOIN warehouse ON w_id = c_w_id
        WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
    -- All lines at once. A statement changes a row of stock only once, so the loop handles items that an order names twice.
    UPDATE stock SET s_ytd = s_ytd + (@taken := CASE
            WHEN s_w_id = p_supply_1 AND s_i_id = p_item_1 THEN p_quantity_1 WHEN s_w_id = p_supply_2 AND s_i_id = p_item_2 THEN p_quantity_2 WHEN s_w_id = p_supply_3 AND s_i_id = p_item_3 THEN p_quantity_3
            WHEN s_w_id = p_supply_4 AND s_i_id = p_item_4 THEN p_quantity_4 WHEN s_w_id = p_supply_5 AND s_i_id = p_item_5 THEN p_quantity_5 WHEN s_w_id = p_supply_6 AND s_i_id = p_item_6 THEN p_quantity_6
            WHEN s_w_id = p_supply_7 AND s_i_id = p_item_7 THEN p_quantity_7 WHEN s_w_id = p_supply_8 AND s_i_id = p_item_8 THEN p_quantity_8 WHEN s_w_id = p_supply_9 AND s_i_id = p_item_9 THEN p_quantity_9
            WHEN s_w_id = p_supply_10 AND s_i_id = p_item_10 THEN p_quantity_10 WHEN s_w_id = p_supply_11 AND s_i_id = p_item_11 THEN p_quantity_11 WHEN s_w_id = p_supply_12 AND s_i_id = p_item_12 THEN p_quantity_12
            WHEN s_w_id = p_supply_13 AND s_i_id = p_item_13 THEN p_quantity_13 WHEN s_w_id = p_supply_14 AND s_i_id = p_item_14 THEN p_quantity_14 WHEN s_w_id = p_supply_15 AND s_i_id = p_item_15 THEN p_quantity_15 END),
        s_quantity = s_quantity - @taken + CASE WHEN s_quantity >= @taken + 10 THEN 0 ELSE 91 END,
        s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + CASE WHEN s_w_id = p_w THEN 0 ELSE 1 END
        WHERE (s_w_id, s_i_id) IN ((p_supply_1, p_item_1), (p_supply_2, p_item_2), (p_supply_3, p_item_3), (p_supply_4, p_item_4), (p_supply_5, p_item_5),
            (p_supply_6, p_item_6), (p_supply_7, p_item_7), (p_supply_8, p_item_8), (p_supply_9, p_item_9), (p_supply_10, p_item_10),
            (p_supply_11, p_item_11), (p_supply_12, p_item_12), (p_supply_13, p_item_13), (p_supply_14, p_item_14), (p_supply_15, p_item_15));
    SELECT d_next_o_id, d_tax INTO o, tax FROM district WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
    UPDATE district SET d_next_o_id = o + 1 WHERE d_w_id = p_w AND d_id = p_d;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_lines, p_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (o, p_d, p_w);
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
        SELECT o, p_d, p_w, CASE i_id WHEN p_item_1 THEN 1 WHEN p_item_2 THEN 2 WHEN p_item_3 THEN 3 WHEN p_item_4 THEN 4 WHEN p_item_5 THEN 5
                WHEN p_item_6 THEN 6 WHEN p_item_7 THEN 7 WHEN p_item_8 THEN 8 WHEN p_item_9 THEN 9 WHEN p_item_10 THEN 10
                WHEN p_item_11 THEN 11 WHEN p_item_12 THEN 12 WHEN p_item_13 THEN 13 WHEN p_item_14 THEN 14 WHEN p_item_15 THEN 15 END,
            i_id, s_w_id, @taken := CASE i_id WHEN p_item_1 THEN p_quantity_1 WHEN p_item_2 THEN p_quantity_2 WHEN p_item_3 THEN p_quantity_3 WHEN p_item_4 THEN p_quantity_4 WHEN p_item_5 THEN p_quantity_5
                WHEN p_item_6 THEN p_quantity_6 WHEN p_item_7 THEN p_quantity_7 WHEN p_item_8 THEN p_quantity_8 WHEN p_item_9 THEN p_quantity_9 WHEN p_item_10 THEN p_quantity_10
                WHEN p_item_11 THEN p_quantity_11 WHEN p_item_12 THEN p_quantity_12 WHEN p_item_13 THEN p_quantity_13 WHEN p_item_14 THEN p_quantity_14 WHEN p_item_15 THEN p_quantity_15 END,
            @taken * i_price, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
        FROM item STRAIGHT_JOIN stock ON s_i_id = i_id AND s_w_id = CASE i_id WHEN p_item_1 THEN p_supply_1 WHEN p_item_2 THEN p_supply_2 WHEN p_item_3 THEN p_supply_3 WHEN p_item_4 THEN p_supply_4 WHEN p_item_5 THEN p_supply_5
                WHEN p_item_6 THEN p_supply_6 WHEN p_item_7 THEN p_supply_7 WHEN p_item_8 THEN p_supply_8 WHEN p_item_9 THEN p_supply_9 WHEN p_item_10 THEN p_supply_10
                WHEN p_item_11 THEN p_supply_11 WHEN p_item_12 THEN p_supply_12 WHEN p_item_13 THEN p_supply_13 WHEN p_item_14 THEN p_supply_14 WHEN p_item_15 THEN p_supply_15 END
        WHERE i_id IN (p_item_1, p_item_2, p_item_3, p_item_4, p_item_5, p_item_6, p_item_7, p_item_8, p_item_9, p_item_10, p_item_11, p_item_12, p_item_13, p_item_14, p_item_15);
    SET added = ROW_COUNT(), line = 2;
    -- An item that does not exist, or that the order names twice.
    WHILE added < p_lines AND is_done = 1 DO
        SET item_now = ELT(line, p_item_1, p_item_2, p_item_3, p_item_4, p_item_5, p_item_6, p_item_7, p_item_8, p_item_9, p_item_10, p_item_11, p_item_12, p_item_13, p_item_14, p_item_15),
            supply_now = ELT(line, p_supply_1, p_supply_2, p_supply_3, p_supply_4, p_supply_5, p_supply_6, p_supply_7, p_supply_8, p_supply_9, p_supply_10, p_supply_11, p_supply_12, p_supply_13, p_supply_14, p_supply_15),
            quantity_now = ELT(line, p_quantity_1, p_quantity_2, p_quantity_3, p_quantity_4, p_quantity_5, p_quantity_6, p_quantity_7, p_quantity_8, p_quantity_9, p_quantity_10, p_quantity_11, p_quantity_12, p_quantity_13, p_quantity_14, p_quantity_15);
        IF NOT EXISTS (SELECT 1 FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o AND ol_number = line) THEN
            IF EXISTS (SELECT 1 FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o
                AND ol_number < line AND ol_i_id = item_now AND ol_supply_w_id = supply_now) THEN
                UPDATE stock SET s_quantity = s_quantity - quantity_now + CASE WHEN s_quantity >= quantity_now + 10 THEN 0 ELSE 91 END,
                    s_ytd = s_ytd + quantity_now, s_order_cnt = s_order_cnt + 1,
                    s_remote_cnt = s_remote_cnt + CASE WHEN supply_now = p_w THEN 0 ELSE 1 END
                    WHERE s_w_id = supply_now AND s_i_id = item_now;
            END IF;
            INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
                SELECT o, p_d, p_w, line, i_id, s_w_id, quantity_now, quantity_now * i_price, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
                FROM item JOIN stock ON s_i_id = i_id WHERE i_id = item_now AND s_w_id = supply_now;
            SET is_done = ROW_COUNT(), added = added + 1;
        END IF;
        SET line = line + 1;
    END WHILE;
    SELECT is_done;
END;
CREATE PROCEDURE orders_payment(p_w INT, p_d INT, p_c_w INT, p_c_d INT, p_by_name INT, p_name VARCHAR(16), p_c INT, p_paid DECIMAL(6, 2))
BEGIN
    DECLARE whose INT DEFAULT p_c;
    DECLARE many INT;
    DECLARE warehouse_name, district_name VARCHAR(10);
    DECLARE balance DECIMAL(12, 2);
    DECLARE credit CHAR(2);
    IF p_by_name = 1 THEN
        SELECT (COUNT(*) - 1) DIV 2 INTO many FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_name;
        SELECT c_id INTO whose FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_name ORDER BY c_first LIMIT many, 1;
    END IF;
    SELECT c_balance, c_credit INTO balance, credit FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = whose FOR UPDATE;
    IF credit = 'BC' THEN
        UPDATE customer SET c_balance = c_balance - p_paid, c_ytd_payment = c_ytd_payment + p_paid, c_payment_cnt = c_payment_cnt + 1,
            c_data = SUBSTR(CONCAT_WS(' ', whose, p_c_d, p_c_w, p_d, p_w, p_paid, '|', c_data), 1, 500)
            WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = whose;
    ELSE
        UPDATE customer SET c_balance = c_balance - p_paid, c_ytd_payment = c_ytd_payment + p_paid, c_payment_cnt = c_payment_cnt + 1
            WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = whose;
    END IF;
    -- All payments of a warehouse need these rows: lock them late, hold them briefly.
    UPDATE district SET d_ytd = d_ytd + p_paid WHERE d_w_id = p_w AND d_id = p_d;
    UPDATE warehouse SET w_ytd = w_ytd + p_paid WHERE w_id = p_w;
    SELECT w_name, d_name INTO warehouse_name, district_name FROM warehouse JOIN district ON d_w_id = w_id WHERE w_id = p_w AND d_id = p_d;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (whose, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_paid, CONCAT(warehouse_name, '    ', district_name));
    SELECT whose;
END;
CREATE PROCEDURE orders_order_status(p_w INT, p_d INT, p_by_name INT, p_name VARCHAR(16), p_c INT)
BEGIN
    DECLARE whose INT DEFAULT p_c;
    DECLARE many, o, carrier INT;
    DECLARE entered DATETIME;
    DECLARE balance DECIMAL(12, 2);
    DECLARE first_name, last_name VARCHAR(16);
    IF p_by_name = 1 THEN
        SELECT (COUNT(*) - 1) DIV 2 INTO many FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name;
        SELECT c_id INTO whose FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name ORDER BY c_first LIMIT many, 1;
    END IF;
    SELECT c_balance, c_first, c_last INTO balance, first_name, last_name FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = whose;
    SELECT o_id, o_entry_d, o_carrier_id INTO o, entered, carrier FROM orders
        WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = whose ORDER BY o_id DESC LIMIT 1;
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o;
END;
CREATE PROCEDURE orders_delivery(p_w INT, p_carrier INT)
BEGIN
    DECLARE o_1, o_2, o_3, o_4, o_5, o_6, o_7, o_8, o_9, o_10 INT;
    DECLARE delivered INT;
    SELECT no_o_id INTO o_1 FROM new_order WHERE no_w_id = p_w AND no_d_id = 1 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_2 FROM new_order WHERE no_w_id = p_w AND no_d_id = 2 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_3 FROM new_order WHERE no_w_id = p_w AND no_d_id = 3 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_4 FROM new_order WHERE no_w_id = p_w AND no_d_id = 4 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_5 FROM new_order WHERE no_w_id = p_w AND no_d_id = 5 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_6 FROM new_order WHERE no_w_id = p_w AND no_d_id = 6 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_7 FROM new_order WHERE no_w_id = p_w AND no_d_id = 7 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_8 FROM new_order WHERE no_w_id = p_w AND no_d_id = 8 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_9 FROM new_order WHERE no_w_id = p_w AND no_d_id = 9 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SELECT no_o_id INTO o_10 FROM new_order WHERE no_w_id = p_w AND no_d_id = 10 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    DELETE FROM new_order WHERE (no_w_id, no_d_id, no_o_id) IN ((p_w, 1, o_1), (p_w, 2, o_2), (p_w, 3, o_3), (p_w, 4, o_4), (p_w, 5, o_5),
            (p_w, 6, o_6), (p_w, 7, o_7), (p_w, 8, o_8), (p_w, 9, o_9), (p_w, 10, o_10));
    SET delivered = ROW_COUNT();
    UPDATE orders SET o_carrier_id = p_carrier WHERE (o_w_id, o_d_id, o_id) IN ((p_w, 1, o_1), (p_w, 2, o_2), (p_w, 3, o_3), (p_w, 4, o_4), (p_w, 5, o_5),
            (p_w, 6, o_6), (p_w, 7, o_7), (p_w, 8, o_8), (p_w, 9, o_9), (p_w, 10, o_10));
    UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE (ol_w_id, ol_d_id, ol_o_id) IN ((p_w, 1, o_1), (p_w, 2, o_2), (p_w, 3, o_3), (p_w, 4, o_4), (p_w, 5, o_5),
            (p_w, 6, o_6), (p_w, 7, o_7), (p_w, 8, o_8), (p_w, 9, o_9), (p_w, 10, o_10));
    UPDATE (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS total
            FROM orders STRAIGHT_JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
            WHERE (o_w_id, o_d_id, o_id) IN ((p_w, 1, o_1), (p_w, 2, o_2), (p_w, 3, o_3), (p_w, 4, o_4), (p_w, 5, o_5),
            (p_w, 6, o_6), (p_w, 7, o_7), (p_w, 8, o_8), (p_w, 9, o_9), (p_w, 10, o_10)) GROUP BY o_w_id, o_d_id, o_c_id) delivery
        STRAIGHT_JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
        SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1;
    SELECT 10 - delivered;
END;
CREATE PROCEDURE orders_stock_level(p_w INT, p_d INT, p_threshold INT)
BEGIN
    DECLARE o INT;
    SELECT d_next_o_id INTO o FROM district WHERE d_w_id = p_w AND d_id = p_d;
    SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < o AND ol_o_id >= o - 20 AND s_quantity < p_threshold;
END;
