SELECT SUM((doc ->> 'points')::int) FROM docs_documents;
