-- Dyno's lookup and Dyno's update of one row, as prepared statements of sysbench, on a table of the same shape that
-- `prepare` copies from Dyno's. Options: statement (lookup, update), table-size.

sysbench.cmdline.options = {
   statement = {"lookup or update", "lookup"},
   table_size = {"rows", 10000},
   tables = {"unused", 1}
}

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE peer_rows LIKE dyno_rows_1")
   con:query("ALTER TABLE peer_rows COMMENT = ''")
   -- All but what the server makes itself.
   local columns = con:query_row("SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns " ..
                                 "WHERE table_schema = DATABASE() AND table_name = 'dyno_rows_1' AND extra NOT LIKE '%GENERATED%'")
   con:query("INSERT INTO peer_rows (" .. columns .. ") SELECT " .. columns .. " FROM dyno_rows_1 ORDER BY id")
   con:query("ANALYZE TABLE peer_rows")
end

function cleanup()
   sysbench.sql.driver():connect():query("DROP TABLE IF EXISTS peer_rows")
end

function thread_init()
   con = sysbench.sql.driver():connect()
   if sysbench.opt.statement == "lookup" then
      stmt = con:prepare("SELECT c2 FROM peer_rows FORCE INDEX (dyno_rows_1_custid) WHERE custid = ?")
      key = stmt:bind_create(sysbench.sql.type.INT)
      stmt:bind_param(key)
   else
      stmt = con:prepare("UPDATE peer_rows FORCE INDEX (dyno_rows_1_custid) SET ver = ver + 1, c2 = ?, c20 = ? " ..
                         "WHERE custid BETWEEN ? AND ?")
      c2, c20 = stmt:bind_create(sysbench.sql.type.CHAR, 128), stmt:bind_create(sysbench.sql.type.CHAR, 128)
      key, last = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(sysbench.sql.type.INT)
      stmt:bind_param(c2, c20, key, last)
   end
end

local value = string.rep("@", 128)

function event()
   local k = sysbench.rand.uniform(1, sysbench.opt.table_size)
   key:set(k)
   if sysbench.opt.statement == "update" then
      c2:set_rand_str(value)
      c20:set_rand_str(value)
      last:set(k)
   end
   stmt:execute()
end

function thread_done()
   stmt:close()
   con:disconnect()
end
