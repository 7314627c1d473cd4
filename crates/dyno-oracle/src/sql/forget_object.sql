-- Takes back a note of an object, before a new one of the same object.
-- Needs: dyno_objects, own.
DELETE FROM dyno_objects WHERE kind = :kind AND name = :name
