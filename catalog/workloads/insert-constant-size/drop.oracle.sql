DROP SEQUENCE steady_ids;
