SELECT id, slot, payload FROM steady_rows ORDER BY id DESC LIMIT 20;
