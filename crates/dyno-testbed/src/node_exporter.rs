//! A real node_exporter on a loopback port.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use crate::child::{self, wait_until};
use crate::postgres::free_port;
use crate::skip::skip;

/// The longest wait for it to answer.
const WITHIN: Duration = Duration::from_secs(60);

const PROGRAM: &str = "/usr/bin/prometheus-node-exporter";

/// One node_exporter, a child of the test.
#[derive(Debug)]
pub struct NodeExporter {
    port: u16,
    child: Child,
}

impl NodeExporter {
    /// Starts one with these options; nothing where there is none on this machine, which is said and counted.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(options: &[&str]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            skip("the test with node_exporter", "it is not here; run scripts/testbeds.sh");
            return None;
        }
        let port = free_port().expect("a free port");
        let mut command = Command::new(PROGRAM);
        command.arg(format!("--web.listen-address=127.0.0.1:{port}")).args(options);
        let exporter = Self { port, child: child::serve(command, None).expect("node_exporter can be run") };
        let ready = wait_until(WITHIN, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(ready, "node_exporter does not listen");
        Some(exporter)
    }

    /// Its URL in plans.
    pub fn url(&self) -> String {
        format!("node-exporter://127.0.0.1:{}", self.port)
    }
}

impl Drop for NodeExporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
