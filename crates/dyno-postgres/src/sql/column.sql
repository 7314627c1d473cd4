-- A column of a table: $1 is its schema, or empty; $2 its table; $3 its column, all in lower case. Tables of the search path come first.
-- Needs: nothing; pg_stats shows statistics only of tables that this user may read.
-- Returns: schema, table, column, both names quoted, column quoted, type, base type, decimal places, rows (-1: unknown), distinct values as
-- pg_stats has them, share of NULLs, least and greatest bound of the histogram, whether its values are unique, whether an index has its ends,
-- whether the table is in the search path.
SELECT n.nspname, c.relname, a.attname,
       quote_ident(n.nspname) || '.' || quote_ident(c.relname), quote_ident(a.attname),
       format_type(a.atttypid, a.atttypmod), COALESCE(b.typname, t.typname),
       CASE WHEN COALESCE(b.typname, t.typname) = 'numeric' AND a.atttypmod >= 4 THEN (a.atttypmod - 4) & 2047 END,
       c.reltuples::bigint, s.n_distinct, s.null_frac,
       (s.histogram_bounds::text::text[])[1],
       (s.histogram_bounds::text::text[])[array_upper(s.histogram_bounds::text::text[], 1)],
       EXISTS (SELECT FROM pg_index i
                WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
       EXISTS (SELECT FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_am m ON m.oid = k.relam
                WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL AND i.indkey[0] = a.attnum AND m.amname = 'btree'),
       pg_table_is_visible(c.oid)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_type b ON b.oid = NULLIF(t.typbasetype, 0)
  LEFT JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname AND s.inherited = (c.relkind = 'p')
 WHERE c.relkind IN ('r', 'p')
   AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
   AND ($1 = '' OR lower(n.nspname) = $1) AND lower(c.relname) = $2 AND lower(a.attname) = $3
 ORDER BY pg_table_is_visible(c.oid) DESC, n.nspname, c.relname, a.attname
 LIMIT 2
