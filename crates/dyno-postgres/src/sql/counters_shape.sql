-- One mark for each watched table, and for each thing that hangs on it. What vacuum, analyze and the run itself do to
-- the catalogs is in none of them; a rewrite changes the file's number, and what is made anew has another oid.
WITH t AS MATERIALIZED (
    SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {relations}
)
SELECT 'shape', 'table ' || t.relname, concat_ws(' ', t.oid, t.relfilenode, t.reltablespace, t.relnatts, t.relpersistence,
    t.relreplident, t.relrowsecurity, t.relforcerowsecurity, array_to_string(t.reloptions, ','))
FROM t
UNION ALL
SELECT 'shape', concat('index ', c.relname, ' on ', t.relname), concat_ws(' ', c.oid, c.relfilenode, i.indisvalid, i.indisready)
FROM t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
UNION ALL
SELECT 'shape', concat('trigger ', g.tgname, ' on ', t.relname), concat_ws(' ', g.oid, g.tgfoid, g.tgenabled)
FROM t JOIN pg_trigger g ON g.tgrelid = t.oid
UNION ALL
SELECT 'shape', concat('rule ', r.rulename, ' on ', t.relname), concat_ws(' ', r.oid, r.ev_enabled, md5(r.ev_action::text))
FROM t JOIN pg_rewrite r ON r.ev_class = t.oid
UNION ALL
SELECT 'shape', concat('constraint ', k.conname, ' on ', t.relname), concat_ws(' ', k.oid, k.convalidated)
FROM t JOIN pg_constraint k ON k.conrelid = t.oid OR k.confrelid = t.oid
UNION ALL
SELECT 'shape', concat('policy ', p.polname, ' on ', t.relname), p.oid::text
FROM t JOIN pg_policy p ON p.polrelid = t.oid
UNION ALL
SELECT 'shape', concat('child table ', h.inhrelid, ' of ', t.relname), h.inhrelid::text
FROM t JOIN pg_inherits h ON h.inhparent = t.oid
UNION ALL
SELECT 'shape', concat('publication ', p.pubname, ' of ', t.relname), p.oid::text
FROM t JOIN pg_publication_rel r ON r.prrelid = t.oid JOIN pg_publication p ON p.oid = r.prpubid
UNION ALL
SELECT 'shape', concat('publication ', p.pubname, ' of all tables'), p.oid::text
FROM pg_publication p WHERE p.puballtables
UNION ALL
SELECT 'shape', concat('routine ', p.proname, '(', pg_get_function_identity_arguments(p.oid), ')'), concat_ws(' ', p.oid, p.xmin)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {routines}
