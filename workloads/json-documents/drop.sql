DROP TABLE docs_documents;
