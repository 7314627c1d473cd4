UPDATE docs_documents SET doc = json_set(doc, '$.points', json_extract(doc, '$.points') - :points) WHERE id = :id;
UPDATE docs_documents SET doc = json_set(doc, '$.points', json_extract(doc, '$.points') + :points) WHERE id = :neighbour;
