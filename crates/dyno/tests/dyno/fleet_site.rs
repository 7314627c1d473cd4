//! Shared setup for tests of distributed runs: a server with data, a NATS server, agents, and the
//! controller's arguments.

use std::path::PathBuf;

use dyno_testbed::{Nats, Postgres};
use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{Running, TestEnv};

pub const DATA: [&str; 4] = ["--set", "data.scale=2000 blocks", "--set", "data.scan_scale=0 blocks"];
pub const LONG: [&str; 4] = ["--set", "run.time=10m", "--set", "workload.rate=100/s"];

/// A server with data, a NATS server, and a folder for each participant.
pub struct FleetSite {
    pub server: Postgres,
    pub nats: Nats,
    pub desk: TestEnv,
}

impl FleetSite {
    pub fn new(nats: Option<Nats>) -> Option<Self> {
        let version = Postgres::available().pop()?;
        let nats = nats?;
        let server = Postgres::start(&version, &[]);
        let desk = TestEnv::new();
        let load = desk.dyno(&[&["load", "--target", &server.url()][..], &DATA].concat());
        assert_eq!(load.code, 0, "{load:#?}");
        Some(Self { server, nats, desk })
    }

    pub fn keep_folder(&self, name: &str) -> PathBuf {
        self.desk.file(&format!("keep-{name}"))
    }

    pub fn agent(&self, name: &str) -> Running {
        self.agent_with(name, &[], &[])
    }

    pub fn agent_with(&self, name: &str, env: &[(&str, &str)], more: &[&str]) -> Running {
        self.agent_in(&self.desk, name, env, more)
    }

    /// Starts an agent in another environment's folder.
    pub fn agent_in(&self, desk: &TestEnv, name: &str, env: &[(&str, &str)], more: &[&str]) -> Running {
        let (nats, keep) = (self.nats.url(), self.keep_folder(name));
        let args =
            ["agent", "--nats", &nats, "--group", "t", "--name", name, "--keep", keep.to_str().unwrap()];
        let mut agent = desk.start_with(env, &[&args[..], more].concat());
        agent.wait_for_line("waits in group t");
        agent
    }

    /// Arguments of a controller for this number of hosts.
    pub fn args(&self, command: &str, hosts: &str, heartbeat: &str, more: &[&str]) -> Vec<String> {
        let (nats, url) = (self.nats.url(), self.server.url());
        let head = [command, "--target", &url];
        let fleet = ["--hosts", hosts, "--nats", &nats, "--host-group", "t", "--heartbeat", heartbeat];
        let brief = ["--set", "run.warmup=200ms", "--set", "observe.interval=200ms", "--set", "run.drain=2s"];
        let sessions = ["--set", "run.sessions_per_schema=4"];
        let all = [&head[..], &fleet, &brief, &sessions, &DATA, more].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    pub fn json(&self, command: &str, hosts: &str, more: &[&str]) -> (i32, Value) {
        let args = self.args(command, hosts, "60s", more);
        self.desk.json(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub fn start(&self, hosts: &str, heartbeat: &str, more: &[&str]) -> Running {
        let args = self.args("run", hosts, heartbeat, more);
        self.desk.start(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A long run of two hosts that has reached its window.
    pub fn start_in_window(&self, more: &[&str]) -> Running {
        let mut leader = self.start("2", "4s", &[&LONG[..], more].concat());
        leader.wait_for_line("window");
        leader
    }

    pub fn collect_runs(&self) -> Value {
        self.desk.json(&["collect", "--nats", &self.nats.url(), "--group", "t"]).1
    }
}

pub fn hosts(record: &Value) -> &Vec<Value> {
    record["fleet"]["hosts"].items()
}
