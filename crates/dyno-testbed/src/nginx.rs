//! A real nginx as a proxy in front of a web server.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, wait_until};
use crate::postgres::free_port;
use crate::skip::skip;

/// The longest wait for it to listen.
const WITHIN: Duration = Duration::from_secs(30);

const PROGRAM: &str = "/usr/sbin/nginx";

/// One nginx with one server, a child of the test.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    folder: TempDir,
}

impl Nginx {
    /// A port on which nothing listens now.
    ///
    /// # Panics
    /// There is none.
    pub fn free_port() -> u16 {
        free_port().expect("a free port")
    }

    /// Starts one with this block `server { … }`, which listens at `port`. Returns `None` and counts a skip
    /// if it is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(server: &str, port: u16) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            skip("the test behind a proxy", "nginx is not here; run scripts/testbeds.sh");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("dyno-nginx-").tempdir().expect("a temporary folder");
        let at = folder.path().display();
        let temp_paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("  {kind}_temp_path {at}/{kind};\n"))
            .collect();
        // A single process, so that nothing is left when it is killed.
        let text = format!(
            "daemon off;\nmaster_process off;\npid {at}/pid;\nerror_log {at}/error.log;\nevents {{}}\nhttp {{\n  access_log off;\n{temp_paths}{server}}}\n"
        );
        let config = folder.path().join("nginx.conf");
        std::fs::write(&config, text).expect("the test's own folder can be written");
        let mut command = Command::new(PROGRAM);
        command
            .arg("-p")
            .arg(folder.path())
            .arg("-e")
            .arg(folder.path().join("error.log"))
            .arg("-c")
            .arg(&config);
        let child = child::serve(command, None).expect("nginx can be run");
        let nginx = Self { child, folder };
        let listens = wait_until(WITHIN, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let log_text = || std::fs::read_to_string(nginx.folder.path().join("error.log")).unwrap_or_default();
        assert!(listens, "nginx does not listen: {}", log_text());
        Some(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
