-- One procedure for each transaction, for drive=server. The last parameter returns the result.
CREATE OR REPLACE PROCEDURE orders_new_order(p_w IN NUMBER, p_d IN NUMBER, p_c IN NUMBER, p_lines IN NUMBER, p_local IN NUMBER,
    p_items IN VARCHAR2, p_supplies IN VARCHAR2, p_quantities IN VARCHAR2, p_done OUT NUMBER) IS
    TYPE numbers IS TABLE OF NUMBER INDEX BY PLS_INTEGER;
    TYPE texts IS TABLE OF VARCHAR2(50) INDEX BY PLS_INTEGER;
    item_of numbers; supply_of numbers; quantity_of numbers; price_of numbers;
    dist_of texts; stock_text_of texts;
    o NUMBER; tax NUMBER; discount NUMBER; w NUMBER;
    last_name customer.c_last%TYPE; credit customer.c_credit%TYPE; item_name item.i_name%TYPE; item_text item.i_data%TYPE;
BEGIN
    p_done := 0;
    SELECT c_discount, c_last, c_credit, w_tax INTO discount, last_name, credit, w FROM customer INNER JOIN warehouse ON w_id = c_w_id
        WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d RETURNING d_next_o_id - 1, d_tax INTO o, tax;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_lines, p_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (o, p_d, p_w);
    FOR line IN 1 .. p_lines LOOP
        item_of(line) := TO_NUMBER(REGEXP_SUBSTR(p_items, '[^,]+', 1, line));
        supply_of(line) := TO_NUMBER(REGEXP_SUBSTR(p_supplies, '[^,]+', 1, line));
        quantity_of(line) := TO_NUMBER(REGEXP_SUBSTR(p_quantities, '[^,]+', 1, line));
        BEGIN
            SELECT i_price, i_name, i_data INTO price_of(line), item_name, item_text FROM item WHERE i_id = item_of(line);
        EXCEPTION
            WHEN NO_DATA_FOUND THEN RETURN;
        END;
    END LOOP;
    FORALL line IN 1 .. p_lines
        UPDATE stock SET s_quantity = s_quantity - quantity_of(line) + CASE WHEN s_quantity >= quantity_of(line) + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + quantity_of(line), s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN supply_of(line) = p_w THEN 0 ELSE 1 END
            WHERE s_w_id = supply_of(line) AND s_i_id = item_of(line)
            RETURNING s_data, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
            BULK COLLECT INTO stock_text_of, dist_of;
    FORALL line IN 1 .. p_lines
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
            VALUES (o, p_d, p_w, line, item_of(line), supply_of(line), quantity_of(line), quantity_of(line) * price_of(line), dist_of(line));
    p_done := 1;
END;
/
CREATE OR REPLACE PROCEDURE orders_payment(p_w IN NUMBER, p_d IN NUMBER, p_c_w IN NUMBER, p_c_d IN NUMBER, p_by_name IN NUMBER,
    p_name IN VARCHAR2, p_c IN NUMBER, p_paid IN NUMBER) IS
    whose NUMBER := p_c;
    warehouse_name warehouse.w_name%TYPE; district_name district.d_name%TYPE;
    balance NUMBER; credit customer.c_credit%TYPE;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + p_paid WHERE w_id = p_w RETURNING w_name INTO warehouse_name;
    UPDATE district SET d_ytd = d_ytd + p_paid WHERE d_w_id = p_w AND d_id = p_d RETURNING d_name INTO district_name;
    IF p_by_name = 1 THEN
        SELECT c_id INTO whose FROM (SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
            FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_name) found WHERE 2 * place IN (many, many + 1);
    END IF;
    UPDATE customer SET c_balance = c_balance - p_paid, c_ytd_payment = c_ytd_payment + p_paid, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC' THEN SUBSTR(whose || ' ' || p_c_d || ' ' || p_c_w || ' ' || p_d || ' ' || p_w || ' ' || p_paid || ' | ' || c_data, 1, 500) ELSE c_data END
        WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = whose RETURNING c_balance, c_credit INTO balance, credit;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (whose, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_paid, warehouse_name || '    ' || district_name);
END;
/
CREATE OR REPLACE PROCEDURE orders_order_status(p_w IN NUMBER, p_d IN NUMBER, p_by_name IN NUMBER, p_name IN VARCHAR2, p_c IN NUMBER) IS
    TYPE lines IS TABLE OF order_line%ROWTYPE INDEX BY PLS_INTEGER;
    whose NUMBER := p_c; o NUMBER;
    entered orders.o_entry_d%TYPE; carrier orders.o_carrier_id%TYPE;
    balance NUMBER; first_name customer.c_first%TYPE; last_name customer.c_last%TYPE;
    line_of lines;
BEGIN
    IF p_by_name = 1 THEN
        SELECT c_id INTO whose FROM (SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
            FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name) found WHERE 2 * place IN (many, many + 1);
    END IF;
    SELECT c_balance, c_first, c_last INTO balance, first_name, last_name FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = whose;
    SELECT o_id, o_entry_d, o_carrier_id INTO o, entered, carrier FROM orders
        WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = whose ORDER BY o_id DESC FETCH FIRST 1 ROW ONLY;
    SELECT * BULK COLLECT INTO line_of FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o;
END;
/
CREATE OR REPLACE PROCEDURE orders_delivery(p_w IN NUMBER, p_carrier IN NUMBER, p_skipped OUT NUMBER) IS
    o NUMBER; c NUMBER; total NUMBER;
BEGIN
    p_skipped := 0;
    FOR district_number IN 1 .. 10 LOOP
        -- If another session has delivered it in the meantime, search for the oldest again.
        LOOP
            SELECT MIN(no_o_id) INTO o FROM new_order WHERE no_w_id = p_w AND no_d_id = district_number;
            EXIT WHEN o IS NULL;
            DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = district_number AND no_o_id = o;
            EXIT WHEN SQL%ROWCOUNT = 1;
        END LOOP;
        IF o IS NULL THEN
            p_skipped := p_skipped + 1;
        ELSE
            UPDATE orders SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = district_number AND o_id = o RETURNING o_c_id INTO c;
            UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = p_w AND ol_d_id = district_number AND ol_o_id = o
                RETURNING SUM(ol_amount) INTO total;
            UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
                WHERE c_w_id = p_w AND c_d_id = district_number AND c_id = c;
        END IF;
    END LOOP;
END;
/
CREATE OR REPLACE PROCEDURE orders_stock_level(p_w IN NUMBER, p_d IN NUMBER, p_threshold IN NUMBER) IS
    o NUMBER; low NUMBER;
BEGIN
    SELECT d_next_o_id INTO o FROM district WHERE d_w_id = p_w AND d_id = p_d;
    SELECT COUNT(DISTINCT s_i_id) INTO low FROM order_line INNER JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < o AND ol_o_id >= o - 20 AND s_quantity < p_threshold;
END;
/
