DROP SEQUENCE queue_ids;
