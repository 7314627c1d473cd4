-- Where rows of some keys lie: key, block. By the index, as a run finds them.
SET enable_seqscan = off;
SET jit = off;
SELECT custid, split_part(trim('()' FROM ctid::text), ',', 1)::int8
FROM {table}
WHERE custid = ANY ('{{keys}}'::int8[])
