UPDATE docs_documents SET doc = JSON_SET(doc, '$.points', CAST(JSON_EXTRACT(doc, '$.points') AS SIGNED) - :points) WHERE id = :id;
UPDATE docs_documents SET doc = JSON_SET(doc, '$.points', CAST(JSON_EXTRACT(doc, '$.points') AS SIGNED) + :points) WHERE id = :neighbour;
