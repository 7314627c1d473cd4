UPDATE docs_documents SET doc = json_set(doc, '$.note', :note) WHERE id = :id;
