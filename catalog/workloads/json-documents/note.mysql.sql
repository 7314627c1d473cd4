UPDATE docs_documents SET doc = JSON_SET(doc, '$.note', :note) WHERE id = :id;
