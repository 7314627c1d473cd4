-- Does nothing with a long text: what sends it is known by how much it has sent.
-- Needs: nothing beyond a session.
DECLARE
  long_text VARCHAR2(32767) := :long_text;
BEGIN
  NULL;
END;
