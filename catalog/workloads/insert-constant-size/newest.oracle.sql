SELECT id, slot, payload FROM steady_rows ORDER BY id DESC FETCH FIRST 20 ROWS ONLY;
