-- Records an object that is about to be made. What creates or drops cannot be taken back, so the note comes first.
-- Needs: dyno_objects, own.
INSERT INTO dyno_objects (seq, kind, name, mark)
SELECT NVL(MAX(seq), 0) + 1, :kind, :name, :mark FROM dyno_objects
