CREATE FUNCTION suite_cpu_loop(first integer) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  total bigint := first;
BEGIN
  FOR i IN 1..10000 LOOP
    total := (total * 31 + i) % 1000003;
  END LOOP;
  RETURN total;
END
$$;
