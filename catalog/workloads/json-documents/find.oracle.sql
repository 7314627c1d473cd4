SELECT id, doc FROM docs_documents WHERE id BETWEEN :id AND :id + 99 AND JSON_VALUE(doc, '$.city') = :city;
