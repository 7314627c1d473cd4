-- Every setting as a session of this user has it by default: what this connection has set for itself, to read undisturbed,
-- is none of the run's. Settings of the server's build cannot change; the block size says what counters mean.
SELECT 'setting', s.name, s.reset_val
FROM pg_settings s
WHERE s.context <> 'internal' OR s.name = 'block_size'
