//! A Galera cluster of MariaDB servers on loopback.

use std::path::Path;
use std::time::Duration;

use crate::child::wait_until;
use crate::mysql::MySql;
use crate::mysql_bins::{MyProduct, MyVersion};
use crate::postgres::free_port;
use crate::skip::skip;

/// Where Debian's package installs the replication provider.
const PROVIDER: &str = "/usr/lib/galera/libgalera_smm.so";
/// The program that copies the data to a new node.
const RSYNC: &str = "/usr/bin/rsync";
/// The longest wait for a node to join, including its first copy of the data.
const JOINED_WITHIN: Duration = Duration::from_secs(120);

/// Nodes of one cluster; each holds all data and accepts writes.
///
/// Every node is a separate server with its own ports for clients, replication and copies. Dropping the value
/// kills them all.
#[derive(Debug)]
pub struct Galera {
    nodes: Vec<MySql>,
}

/// Attempts to start a node before the test fails.
const STARTS_MAX: usize = 4;

impl Galera {
    /// Starts a cluster of `nodes`; reports and counts a skip if something is missing on this machine.
    ///
    /// # Panics
    /// A node does not start or does not join; the message contains its output.
    pub fn start(nodes: usize) -> Option<Self> {
        let missing = [PROVIDER, RSYNC].into_iter().find(|path| !Path::new(path).exists());
        let version = MyVersion::of(MyProduct::MariaDb);
        let (Some(version), None) = (version, missing) else {
            skip(
                "the test on a Galera cluster",
                "MariaDB, galera-4 or rsync is not here; run scripts/testbeds.sh",
            );
            return None;
        };
        let ports: Vec<[u16; 3]> = (0..nodes).map(|_| three_ports()).collect();
        let peers: Vec<String> = ports.iter().map(|[group, ..]| format!("127.0.0.1:{group}")).collect();
        let mut cluster = Self { nodes: Vec::new() };
        for (at, own) in ports.iter().enumerate() {
            let settings = settings(at, own, &peers);
            let settings: Vec<(&str, &str)> =
                settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            // A joining node gives up if the group does not answer in time, as on a busy machine.
            let started = (1..STARTS_MAX).find_map(|_| MySql::try_start(&version, &settings).ok());
            let node = started.unwrap_or_else(|| MySql::start(&version, &settings));
            let joined = wait_until(JOINED_WITHIN, || {
                let state = "SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME) FROM information_schema.GLOBAL_STATUS \
                             WHERE VARIABLE_NAME IN ('wsrep_cluster_size', 'wsrep_local_state_comment', 'wsrep_ready')";
                node.try_sql(node.superuser(), state)
                    .is_ok_and(|said| said == format!("{},Synced,ON", at + 1))
            });
            assert!(joined, "node {at} did not join: {}", node.log());
            cluster.nodes.push(node);
        }
        Some(cluster)
    }

    pub fn nodes(&self) -> &[MySql] {
        &self.nodes
    }
}

/// Free ports for replication, incremental copies and full copies.
fn three_ports() -> [u16; 3] {
    [(); 3].map(|()| free_port().expect("loopback has free ports"))
}

fn settings(at: usize, [group, ist, sst]: &[u16; 3], peers: &[String]) -> Vec<(String, String)> {
    // The first node bootstraps the cluster; the others join it.
    let address = if at == 0 { String::new() } else { peers.join(",") };
    let provider = format!(
        "gmcast.listen_addr=tcp://127.0.0.1:{group};ist.recv_addr=127.0.0.1:{ist};gcache.size=32M;base_host=127.0.0.1;base_port={group}"
    );
    [
        ("wsrep_on", "ON".to_owned()),
        ("wsrep_provider", PROVIDER.to_owned()),
        ("wsrep_provider_options", provider),
        ("wsrep_cluster_name", "dyno".to_owned()),
        ("wsrep_cluster_address", format!("gcomm://{address}")),
        ("wsrep_node_name", format!("node{at}")),
        ("wsrep_node_address", format!("127.0.0.1:{group}")),
        ("wsrep_sst_method", "rsync".to_owned()),
        ("wsrep_sst_receive_address", format!("127.0.0.1:{sst}")),
        ("binlog_format", "ROW".to_owned()),
        ("innodb_autoinc_lock_mode", "2".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}
