SELECT field0, field1, field2, field3, field4, field5, field6, field7, field8, field9 FROM kv_records WHERE id >= :id ORDER BY id LIMIT :length;
