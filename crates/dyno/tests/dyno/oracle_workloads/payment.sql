CREATE OR REPLACE PROCEDURE orders_payment(p_w IN NUMBER, p_d IN NUMBER, p_c_w IN NUMBER, p_c_d IN NUMBER, p_by_name IN NUMBER,
    p_name IN VARCHAR2(16), p_c IN NUMBER, p_paid IN DECIMAL(12, 2)) AS
    whose INT := p_c;
    warehouse_name VARCHAR2(10); district_name VARCHAR2(10);
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + p_paid WHERE w_id = p_w;
    SELECT w_name INTO warehouse_name FROM warehouse WHERE w_id = p_w;
    UPDATE district SET d_ytd = d_ytd + p_paid WHERE d_w_id = p_w AND d_id = p_d;
    SELECT d_name INTO district_name FROM district WHERE d_w_id = p_w AND d_id = p_d;
    IF p_by_name = 1 THEN
        SELECT c_id INTO whose FROM (SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
            FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_name) found WHERE 2 * place IN (many, many + 1);
    END IF;
    UPDATE customer SET c_balance = c_balance - p_paid, c_ytd_payment = c_ytd_payment + p_paid, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC' THEN SUBSTR(whose || ' ' || p_c_d || ' ' || p_c_w || ' ' || p_d || ' ' || p_w || ' ' || p_paid || ' | ' || c_data, 1, 500) ELSE c_data END
        WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = whose;
    INSERT INTO `history` (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (whose, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_paid, warehouse_name || '    ' || district_name);
END;
