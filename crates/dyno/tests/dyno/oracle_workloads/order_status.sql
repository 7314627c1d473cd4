CREATE OR REPLACE PROCEDURE orders_order_status(p_w IN NUMBER, p_d IN NUMBER, p_by_name IN NUMBER, p_name IN VARCHAR2(16), p_c IN NUMBER) AS
    whose INT := p_c; o INT; line_count INT; balance DECIMAL(12, 2);
BEGIN
    IF p_by_name = 1 THEN
        SELECT c_id INTO whose FROM (SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first) AS place, COUNT(*) OVER () AS many
            FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name) found WHERE 2 * place IN (many, many + 1);
    END IF;
    SELECT c_balance INTO balance FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = whose;
    SELECT MAX(o_id) INTO o FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = whose;
    SELECT COUNT(*) INTO line_count FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o;
END;
