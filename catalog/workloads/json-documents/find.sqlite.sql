SELECT id, doc FROM docs_documents WHERE id BETWEEN :id AND :id + 99 AND json_extract(doc, '$.city') = :city;
