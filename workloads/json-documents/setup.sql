-- 10,000 documents, each with 1,000 points.
CREATE TABLE docs_documents (id INT NOT NULL PRIMARY KEY, doc JSONB NOT NULL);
CREATE TABLE docs_digits (d INT NOT NULL PRIMARY KEY);
INSERT INTO docs_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO docs_documents
SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d, '{ "owner": "user", "city": "Basel", "points": 1000, "note": "", "tags": ["new", "open"] }'::jsonb
  FROM docs_digits a, docs_digits b, docs_digits c, docs_digits e;
DROP TABLE docs_digits;
