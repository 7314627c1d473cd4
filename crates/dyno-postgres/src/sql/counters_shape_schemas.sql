-- Publications of the whole schema, which there are from version 15 on.
SELECT 'shape', concat('publication ', p.pubname, ' of schema ', n.nspname), p.oid::text
FROM pg_publication_namespace s JOIN pg_publication p ON p.oid = s.pnpubid JOIN pg_namespace n ON n.oid = s.pnnspid
WHERE n.nspname = {schema}
