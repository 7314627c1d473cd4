-- What is recorded as Dyno's, the last first. Needs: dyno_objects, own. Returns: kind, name, mark.
SELECT kind, name, mark FROM dyno_objects ORDER BY seq DESC
