//! A real Prometheus server, and its checker of metrics.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, RunAs, wait_until};
use crate::postgres::free_port;
use crate::skip::skip;
use crate::template;

/// The longest wait for it to answer or to end.
const WITHIN: Duration = Duration::from_secs(60);

const PROGRAM: &str = "/usr/bin/prometheus";
const CHECKER: &str = "/usr/bin/promtool";

/// One Prometheus that scrapes one target, a child of the test.
#[derive(Debug)]
pub struct Prometheus {
    port: u16,
    child: Child,
    _folder: TempDir,
}

impl Prometheus {
    /// Starts one that scrapes `target`, such as `127.0.0.1:9750`, every second. Returns `None` and counts a
    /// skip if it is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(target: &str) -> Option<Self> {
        if !Path::new(PROGRAM).exists() || !Path::new(CHECKER).exists() {
            skip("the test with Prometheus", "it is not here; run scripts/testbeds.sh");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("dyno-prom-").tempdir().expect("a temporary folder");
        let port = free_port().expect("a free port");
        let config = folder.path().join("prometheus.yml");
        let text = format!(
            "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\nscrape_configs:\n  - job_name: dyno\n    static_configs:\n      \
             - targets: ['{target}']\n"
        );
        std::fs::write(&config, text).expect("the test's own folder can be written");
        let run_as = RunAs::choose();
        template::give_ownership(folder.path(), run_as).expect("the folder is the test's own");
        let mut command = Command::new(PROGRAM);
        command
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let child = child::serve(command, run_as).expect("prometheus can be run");
        let prometheus = Self { port, child, _folder: folder };
        let ready =
            wait_until(WITHIN, || get(port, "/-/ready").is_some_and(|answer| answer.contains("Ready")));
        assert!(ready, "prometheus was not ready in time");
        Some(prometheus)
    }

    /// Its answer to a query, as JSON text.
    ///
    /// # Panics
    /// It does not answer.
    pub fn query(&self, query: &str) -> String {
        let spelled: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        get(self.port, &format!("/api/v1/query?query={spelled}")).expect("prometheus answers")
    }

    /// The output of its checker for metrics in the text format; empty if it finds no fault.
    ///
    /// # Panics
    /// The checker cannot be run.
    pub fn check(text: &str) -> String {
        let mut checker = Command::new(CHECKER)
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("promtool can be run");
        let mut stdin = checker.stdin.take().expect("its input is ours");
        stdin.write_all(text.as_bytes()).expect("promtool reads");
        drop(stdin);
        let output = checker.wait_with_output().expect("promtool ends");
        let findings =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() { String::new() } else { findings }
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of an answer, requested with HTTP/1.0 so that it is not chunked.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(WITHIN)).ok()?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
}
