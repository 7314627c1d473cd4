-- Says how much a transaction sees of others; its first statement. {level} is READ COMMITTED or SERIALIZABLE.
-- Needs: nothing beyond a session.
SET TRANSACTION ISOLATION LEVEL {level}
