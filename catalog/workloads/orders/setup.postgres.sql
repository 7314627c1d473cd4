-- One procedure for each transaction, for drive=server. The last parameters return the result.
CREATE OR REPLACE PROCEDURE orders_new_order(p_w bigint, p_d bigint, p_c bigint, p_lines bigint, p_local bigint,
    p_items text, p_supplies text, p_quantities text, INOUT p_done bigint) LANGUAGE plpgsql AS $$
DECLARE
    items int[] := string_to_array(p_items, ',');
    supplies int[] := string_to_array(p_supplies, ',');
    quantities int[] := string_to_array(p_quantities, ',');
    o int; tax numeric; discount numeric; last text; credit text; w numeric;
    price numeric; item_name text; item_data text; dist text; stock_data text; line int; added int;
BEGIN
    p_done := 0;
    SELECT c_discount, c_last, c_credit, w_tax INTO discount, last, credit, w FROM customer JOIN warehouse ON w_id = c_w_id
        WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d RETURNING d_next_o_id - 1, d_tax INTO o, tax;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_lines, p_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (o, p_d, p_w);
    -- All lines at once. A statement changes a row of stock only once, so the loop handles items that an order names twice.
    WITH line AS (
        SELECT * FROM UNNEST(items, supplies, quantities) WITH ORDINALITY AS l(wanted, supply, quantity, place) LIMIT p_lines
    ), taken AS (
        UPDATE stock SET s_quantity = s_quantity - quantity + CASE WHEN s_quantity >= quantity + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN supply = p_w THEN 0 ELSE 1 END
            FROM line INNER JOIN item ON i_id = wanted WHERE s_w_id = supply AND s_i_id = wanted
            RETURNING place, wanted, supply, quantity, i_price, i_name, i_data, s_data, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END AS info
    )
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
        SELECT o, p_d, p_w, place, wanted, supply, quantity, quantity * i_price, info FROM taken;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added < p_lines THEN
        FOR line IN SELECT place FROM GENERATE_SERIES(1, p_lines) place WHERE NOT EXISTS
            (SELECT 1 FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o AND ol_number = place) LOOP
            SELECT i_price, i_name, i_data INTO price, item_name, item_data FROM item WHERE i_id = items[line];
            IF NOT FOUND THEN RETURN; END IF;
            UPDATE stock SET s_quantity = s_quantity - quantities[line] + CASE WHEN s_quantity >= quantities[line] + 10 THEN 0 ELSE 91 END,
                s_ytd = s_ytd + quantities[line], s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + CASE WHEN supplies[line] = p_w THEN 0 ELSE 1 END
                WHERE s_w_id = supplies[line] AND s_i_id = items[line]
                RETURNING s_data, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END INTO stock_data, dist;
            INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
                VALUES (o, p_d, p_w, line, items[line], supplies[line], quantities[line], quantities[line] * price, dist);
        END LOOP;
    END IF;
    p_done := 1;
END $$;
CREATE OR REPLACE PROCEDURE orders_payment(p_w bigint, p_d bigint, p_c_w bigint, p_c_d bigint, p_by_name bigint, p_name text,
    p_c bigint, p_paid numeric, INOUT p_whose bigint) LANGUAGE plpgsql AS $$
DECLARE warehouse_name text; district_name text; customer_row customer%ROWTYPE;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + p_paid WHERE w_id = p_w RETURNING w_name INTO warehouse_name;
    UPDATE district SET d_ytd = d_ytd + p_paid WHERE d_w_id = p_w AND d_id = p_d RETURNING d_name INTO district_name;
    p_whose := p_c;
    IF p_by_name = 1 THEN
        SELECT (ARRAY_AGG(c_id ORDER BY c_first))[(COUNT(*) + 1) / 2] INTO p_whose
            FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_name;
    END IF;
    UPDATE customer SET c_balance = c_balance - p_paid, c_ytd_payment = c_ytd_payment + p_paid, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC' THEN SUBSTR(CONCAT_WS(' ', p_whose, p_c_d, p_c_w, p_d, p_w, p_paid, '|', c_data), 1, 500) ELSE c_data END
        WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = p_whose RETURNING * INTO customer_row;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (p_whose, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_paid, warehouse_name || '    ' || district_name);
END $$;
CREATE OR REPLACE PROCEDURE orders_order_status(p_w bigint, p_d bigint, p_by_name bigint, p_name text, p_c bigint, INOUT p_lines bigint)
LANGUAGE plpgsql AS $$
DECLARE whose bigint := p_c; customer_row customer%ROWTYPE; order_row orders%ROWTYPE; line_row order_line%ROWTYPE;
BEGIN
    p_lines := 0;
    IF p_by_name = 1 THEN
        SELECT (ARRAY_AGG(c_id ORDER BY c_first))[(COUNT(*) + 1) / 2] INTO whose
            FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name;
    END IF;
    SELECT * INTO customer_row FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = whose;
    SELECT * INTO order_row FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = whose ORDER BY o_id DESC LIMIT 1;
    FOR line_row IN SELECT * FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = order_row.o_id LOOP
        p_lines := p_lines + 1;
    END LOOP;
END $$;
CREATE OR REPLACE PROCEDURE orders_delivery(p_w bigint, p_carrier bigint, INOUT p_skipped bigint) LANGUAGE plpgsql AS $$
DECLARE o int; c int; total numeric;
BEGIN
    p_skipped := 0;
    FOR district_number IN 1..10 LOOP
        SELECT no_o_id INTO o FROM new_order WHERE no_w_id = p_w AND no_d_id = district_number ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF NOT FOUND THEN
            p_skipped := p_skipped + 1;
            CONTINUE;
        END IF;
        DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = district_number AND no_o_id = o;
        UPDATE orders SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = district_number AND o_id = o RETURNING o_c_id INTO c;
        WITH delivered AS (UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = p_w AND ol_d_id = district_number AND ol_o_id = o
            RETURNING ol_amount)
            SELECT SUM(ol_amount) INTO total FROM delivered;
        UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = p_w AND c_d_id = district_number AND c_id = c;
    END LOOP;
END $$;
CREATE OR REPLACE PROCEDURE orders_stock_level(p_w bigint, p_d bigint, p_threshold bigint, INOUT p_low bigint) LANGUAGE plpgsql AS $$
DECLARE o int;
BEGIN
    SELECT d_next_o_id INTO o FROM district WHERE d_w_id = p_w AND d_id = p_d;
    SELECT COUNT(DISTINCT s_i_id) INTO p_low FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < o AND ol_o_id >= o - 20 AND s_quantity < p_threshold;
END $$;
