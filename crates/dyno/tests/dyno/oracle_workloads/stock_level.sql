CREATE OR REPLACE PROCEDURE orders_stock_level(p_w IN NUMBER, p_d IN NUMBER, p_threshold IN NUMBER) AS
    o INT; low INT;
BEGIN
    SELECT d_next_o_id INTO o FROM district WHERE d_w_id = p_w AND d_id = p_d;
    SELECT COUNT(DISTINCT s_i_id) INTO low FROM order_line INNER JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < o AND ol_o_id >= o - 20 AND s_quantity < p_threshold;
END;
