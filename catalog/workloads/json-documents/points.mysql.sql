SELECT SUM(CAST(JSON_EXTRACT(doc, '$.points') AS SIGNED)) FROM docs_documents;
