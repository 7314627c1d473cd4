UPDATE docs_documents SET doc = JSON_TRANSFORM(doc, SET '$.points' = JSON_VALUE(doc, '$.points' RETURNING NUMBER) - :points) WHERE id = :id;
UPDATE docs_documents SET doc = JSON_TRANSFORM(doc, SET '$.points' = JSON_VALUE(doc, '$.points' RETURNING NUMBER) + :points) WHERE id = :neighbour;
