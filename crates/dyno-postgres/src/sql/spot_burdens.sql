-- What hangs on a table and was not loaded with it: order, what it is, its name, the statement that takes it away.
-- {table} is its full name, {own} the names of its own indexes.
WITH t AS (SELECT c.*, n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = {table}::regclass)
SELECT 1, 'constraint', k.conname::text, format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname)
FROM t JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid OR k.confrelid = t.oid
-- From version 18 on columns that are NOT NULL, as Dyno's are, have constraints.
WHERE k.contype <> 'n'
UNION ALL
SELECT 2, 'further index', x.relname, format('DROP INDEX %I.%I', n.nspname, x.relname)
FROM t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = x.relnamespace
WHERE x.relname <> ALL ({own})
UNION ALL
SELECT 3, 'trigger', g.tgname, format('DROP TRIGGER %I ON %I.%I', g.tgname, t.nspname, t.relname)
FROM t JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid
WHERE NOT g.tgisinternal
UNION ALL
SELECT 4, 'rule', r.rulename, format('DROP RULE %I ON %I.%I', r.rulename, t.nspname, t.relname)
FROM t JOIN pg_catalog.pg_rewrite r ON r.ev_class = t.oid
UNION ALL
SELECT 5, 'row security policy', p.polname, format('DROP POLICY %I ON %I.%I', p.polname, t.nspname, t.relname)
FROM t JOIN pg_catalog.pg_policy p ON p.polrelid = t.oid
UNION ALL
SELECT 6, 'switch', 'ROW LEVEL SECURITY', format('ALTER TABLE %I.%I DISABLE ROW LEVEL SECURITY', t.nspname, t.relname)
FROM t WHERE t.relrowsecurity
UNION ALL
SELECT 7, 'child table', h.inhrelid::regclass::text, format('ALTER TABLE %s NO INHERIT %I.%I', h.inhrelid::regclass, t.nspname,
    t.relname)
FROM t JOIN pg_catalog.pg_inherits h ON h.inhparent = t.oid
UNION ALL
SELECT 8, 'publication', p.pubname, format('ALTER PUBLICATION %I DROP TABLE %I.%I', p.pubname, t.nspname, t.relname)
FROM t JOIN pg_catalog.pg_publication_rel r ON r.prrelid = t.oid JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
UNION ALL
SELECT 9, 'publication', p.pubname, format('DROP PUBLICATION %I', p.pubname)
FROM t, pg_catalog.pg_publication p
WHERE p.puballtables
ORDER BY 1, 3
