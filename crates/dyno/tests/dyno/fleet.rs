//! Several driver hosts: agents as processes of their own, a real NATS server, a real PostgreSQL.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use dyno_testbed::{Nats, Postgres};
use serde_json::{Value, json};

use crate::common::{Desk, Running, assert_fits_schema, check, until};

const DATA: [&str; 4] = ["--set", "data.scale=2000 blocks", "--set", "data.scan_scale=0 blocks"];

/// A server with data, a meeting point, and a folder for each who is there.
struct Site {
    server: Postgres,
    nats: Nats,
    desk: Desk,
}

impl Site {
    fn new(nats: Option<Nats>) -> Option<Self> {
        let version = Postgres::available().pop()?;
        let nats = nats?;
        let server = Postgres::start(&version, &[]);
        let desk = Desk::new();
        let load = desk.dyno(&[&["load", "--target", &server.url()][..], &DATA].concat());
        assert_eq!(load.code, 0, "{load:#?}");
        Some(Self { server, nats, desk })
    }

    /// An agent that waits.
    fn agent(&self, name: &str) -> Running {
        self.agent_with(name, &[], &[])
    }

    fn agent_with(&self, name: &str, env: &[(&str, &str)], more: &[&str]) -> Running {
        let (nats, keep) = (self.nats.url(), self.desk.file(&format!("keep-{name}")));
        let args =
            ["agent", "--nats", &nats, "--group", "t", "--name", name, "--keep", keep.to_str().unwrap()];
        let mut agent = self.desk.start_with(env, &[&args[..], more].concat());
        agent.until("waits in group t");
        agent
    }

    /// What a leader of so many hosts is asked.
    fn args(&self, command: &str, hosts: &str, more: &[&str]) -> Vec<String> {
        let (nats, url) = (self.nats.url(), self.server.url());
        let head = [command, "--target", &url];
        let fleet = ["--hosts", hosts, "--nats", &nats, "--group", "t", "--heartbeat", "20s"];
        let brief = ["--set", "run.warmup=200ms", "--set", "observe.interval=200ms"];
        let all = [&head[..], &fleet, &brief, &DATA, more].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    fn json(&self, command: &str, hosts: &str, more: &[&str]) -> (i32, Value) {
        let args = self.args(command, hosts, more);
        self.desk.json(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// Operations of the sessions' whole life by class, which the seed alone decides.
fn done(record: &Value) -> Value {
    json!([record["whole"]["ops"], record["whole"]["rows_read"], record["whole"]["rows_updated"]])
}

#[test]
fn two_hosts_do_the_operations_that_one_does_and_all_of_it_is_audited() {
    let Some(site) = Site::new(Nats::start(&[])) else { return };
    let mix = [
        "--set",
        "workload.update_pct=30",
        "--set",
        "workload.lookup_pct=30",
        "--set",
        "workload.seed=77",
        "--set",
        "run.sessions_per_schema=4",
        "--set",
        "run.ops_per_session=250",
    ];
    let url = site.server.url();
    let brief = ["--set", "run.warmup=0s", "--set", "observe.interval=200ms"];
    let (_, alone) = site.desk.json(&[&["run", "--target", &url][..], &brief, &DATA, &mix].concat());
    assert_eq!(alone["fleet"], Value::Null);

    let agents = [site.agent("a1"), site.agent("a2")];
    let (code, record) = site.json("run", "2", &[&mix[..], &["--set", "run.warmup=0s"]].concat());
    assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
    assert_fits_schema(&record);
    let names = |record: &Value| -> Vec<String> {
        let hosts = record["fleet"]["hosts"].as_array().unwrap();
        hosts.iter().map(|host| format!("{} {} {}", host["rank"], host["name"], host["sessions"])).collect()
    };
    assert_eq!(names(&record), ["0 \"a1\" 2", "1 \"a2\" 2"]);
    for name in
        ["sessions", "commits_whole", "rows_updated_whole", "heap_reads_whole", "update_values", "hosts"]
    {
        assert_eq!(check(&record, name)["status"], "pass", "{:#}", check(&record, name));
    }
    let window = &record["ops"]["all"]["count"];
    let of_hosts: u64 =
        record["fleet"]["hosts"].as_array().unwrap().iter().map(|host| host["ops"].as_u64().unwrap()).sum();
    assert_eq!(window, of_hosts, "merged, and none lost");
    assert!(record["ops"]["all"]["service_us"]["p99"].as_f64().unwrap() > 0.0);
    let asked = |record: &Value| record["plan"]["run"]["ops_per_session"].as_u64();
    assert_eq!(asked(&record), asked(&alone));
    // Sessions go on until all have done theirs, so the first 250 of each are the same, and of the rest there are others.
    let least = |record: &Value| {
        record["whole"]["ops"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum::<u64>()
    };
    assert!(least(&record) >= 1_000 && least(&alone) >= 1_000, "{} {}", done(&record), done(&alone));
    drop(agents);
}
