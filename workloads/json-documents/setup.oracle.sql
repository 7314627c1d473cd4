-- 10,000 documents, each with 1,000 points.
CREATE TABLE docs_documents (id INT NOT NULL PRIMARY KEY, doc CLOB CHECK (doc IS JSON));
CREATE TABLE docs_digits (d INT NOT NULL PRIMARY KEY);
INSERT INTO docs_digits SELECT LEVEL - 1 FROM DUAL CONNECT BY LEVEL <= 10;
INSERT INTO docs_documents
SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d, '{ "owner": "user", "city": "Basel", "points": 1000, "note": "", "tags": ["new", "open"] }'
  FROM docs_digits a, docs_digits b, docs_digits c, docs_digits e;
DROP TABLE docs_digits;
