INSERT INTO kv_records (field0, field1, field2, field3, field4, field5, field6, field7, field8, field9)
VALUES (:text0, :text1, :text2, :text3, :text4, :text5, :text6, :text7, :text8, :text9);
