//! A cluster replicates its data to each node.

use dyno_testbed::Galera;

#[test]
fn galera_write_on_one_node_is_visible_on_another() {
    let Some(cluster) = Galera::start(3) else { return };
    let [first, .., last] = cluster.nodes() else { panic!("three nodes") };
    first.sql("CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (7)");
    assert_eq!(last.sql("SET wsrep_sync_wait = 1; SELECT a FROM t"), "7");
}
