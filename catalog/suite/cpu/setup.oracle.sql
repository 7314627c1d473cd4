CREATE FUNCTION suite_cpu_loop(first_value IN NUMBER) RETURN NUMBER DETERMINISTIC AS
  total PLS_INTEGER := first_value;
BEGIN
  FOR i IN 1..10000 LOOP
    total := MOD(total * 31 + i, 1000003);
  END LOOP;
  RETURN total;
END;
/
