UPDATE docs_documents SET doc = JSON_TRANSFORM(doc, SET '$.note' = :note) WHERE id = :id;
