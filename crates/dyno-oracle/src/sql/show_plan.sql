-- Shows the plan that EXPLAIN PLAN FOR has just chosen for a statement, in this connection's own PLAN_TABLE.
-- Needs: nothing more. Returns: the lines.
SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY)
