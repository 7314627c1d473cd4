SELECT SUM(json_extract(doc, '$.points')) FROM docs_documents;
