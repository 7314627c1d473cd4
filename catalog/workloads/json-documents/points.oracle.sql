SELECT SUM(JSON_VALUE(doc, '$.points' RETURNING NUMBER)) FROM docs_documents;
