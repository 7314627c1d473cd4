-- One procedure for each transaction, for drive=server. What a caller has to know is the row that it returns.
DROP PROCEDURE IF EXISTS orders_new_order;
DROP PROCEDURE IF EXISTS orders_payment;
DROP PROCEDURE IF EXISTS orders_order_status;
DROP PROCEDURE IF EXISTS orders_delivery;
DROP PROCEDURE IF EXISTS orders_stock_level;
CREATE PROCEDURE orders_new_order(p_w INT, p_d INT, p_c INT, p_lines INT, p_local INT,
    p_items VARCHAR(200), p_supplies VARCHAR(200), p_quantities VARCHAR(200))
BEGIN
    DECLARE o, line, item_now, supply_now, quantity_now, is_done INT;
    DECLARE tax, discount, w, price DECIMAL(10, 4);
    DECLARE last_name, item_name, item_text, dist, stock_text VARCHAR(50);
    DECLARE credit CHAR(2);
    SELECT c_discount, c_last, c_credit, w_tax INTO discount, last_name, credit, w FROM customer JOIN warehouse ON w_id = c_w_id
        WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
    SELECT d_next_o_id, d_tax INTO o, tax FROM district WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
    UPDATE district SET d_next_o_id = o + 1 WHERE d_w_id = p_w AND d_id = p_d;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_lines, p_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (o, p_d, p_w);
    SET line = 1, is_done = 1;
    WHILE line <= p_lines AND is_done = 1 DO
        SET item_now = CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(p_items, ',', line), ',', -1) AS SIGNED), supply_now = CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(p_supplies, ',', line), ',', -1) AS SIGNED), quantity_now = CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(p_quantities, ',', line), ',', -1) AS SIGNED);
        UPDATE stock SET s_quantity = s_quantity - quantity_now + CASE WHEN s_quantity >= quantity_now + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + quantity_now, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN supply_now = p_w THEN 0 ELSE 1 END
            WHERE s_w_id = supply_now AND s_i_id = item_now;
        IF ROW_COUNT() = 0 THEN
            SET is_done = 0;
        ELSE
            SELECT i_price, i_name, i_data, s_data, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END INTO price, item_name, item_text, stock_text, dist
                FROM item INNER JOIN stock ON s_i_id = i_id WHERE i_id = item_now AND s_w_id = supply_now;
            INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
                VALUES (o, p_d, p_w, line, item_now, supply_now, quantity_now, quantity_now * price, dist);
            SET line = line + 1;
        END IF;
    END WHILE;
    SELECT is_done;
END;
CREATE PROCEDURE orders_payment(p_w INT, p_d INT, p_c_w INT, p_c_d INT, p_by_name INT, p_name VARCHAR(16), p_c INT, p_paid DECIMAL(6, 2))
BEGIN
    DECLARE whose INT DEFAULT p_c;
    DECLARE warehouse_name, district_name VARCHAR(10);
    DECLARE balance DECIMAL(12, 2);
    DECLARE credit CHAR(2);
    UPDATE warehouse SET w_ytd = w_ytd + p_paid WHERE w_id = p_w;
    SELECT w_name INTO warehouse_name FROM warehouse WHERE w_id = p_w;
    UPDATE district SET d_ytd = d_ytd + p_paid WHERE d_w_id = p_w AND d_id = p_d;
    SELECT d_name INTO district_name FROM district WHERE d_w_id = p_w AND d_id = p_d;
    IF p_by_name = 1 THEN
        SELECT c_id INTO whose FROM (SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
            FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_name) found WHERE 2 * place IN (many, many + 1);
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
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (whose, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_paid, CONCAT(warehouse_name, '    ', district_name));
    SELECT whose;
END;
CREATE PROCEDURE orders_order_status(p_w INT, p_d INT, p_by_name INT, p_name VARCHAR(16), p_c INT)
BEGIN
    DECLARE whose INT DEFAULT p_c;
    DECLARE o, carrier INT;
    DECLARE entered DATETIME;
    DECLARE balance DECIMAL(12, 2);
    DECLARE first_name, last_name VARCHAR(16);
    IF p_by_name = 1 THEN
        SELECT c_id INTO whose FROM (SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
            FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name) found WHERE 2 * place IN (many, many + 1);
    END IF;
    SELECT c_balance, c_first, c_last INTO balance, first_name, last_name FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = whose;
    SELECT o_id, o_entry_d, o_carrier_id INTO o, entered, carrier FROM orders
        WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = whose ORDER BY o_id DESC LIMIT 1;
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o;
END;
CREATE PROCEDURE orders_delivery(p_w INT, p_carrier INT)
BEGIN
    DECLARE number_now INT DEFAULT 1;
    DECLARE skipped INT DEFAULT 0;
    DECLARE o, c INT;
    DECLARE total DECIMAL(12, 2);
    WHILE number_now <= 10 DO
        SET o = NULL;
        SELECT no_o_id INTO o FROM new_order WHERE no_w_id = p_w AND no_d_id = number_now ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF o IS NULL THEN
            SET skipped = skipped + 1;
        ELSE
            DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = number_now AND no_o_id = o;
            SELECT o_c_id INTO c FROM orders WHERE o_w_id = p_w AND o_d_id = number_now AND o_id = o;
            UPDATE orders SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = number_now AND o_id = o;
            UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = p_w AND ol_d_id = number_now AND ol_o_id = o;
            SELECT SUM(ol_amount) INTO total FROM order_line WHERE ol_w_id = p_w AND ol_d_id = number_now AND ol_o_id = o;
            UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
                WHERE c_w_id = p_w AND c_d_id = number_now AND c_id = c;
        END IF;
        SET number_now = number_now + 1;
    END WHILE;
    SELECT skipped;
END;
CREATE PROCEDURE orders_stock_level(p_w INT, p_d INT, p_threshold INT)
BEGIN
    DECLARE o INT;
    SELECT d_next_o_id INTO o FROM district WHERE d_w_id = p_w AND d_id = p_d;
    SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < o AND ol_o_id >= o - 20 AND s_quantity < p_threshold;
END;
