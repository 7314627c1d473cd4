//! Distributed runs: agents as separate processes, a real NATS server, a real PostgreSQL.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use dyno_testbed::{Nats, certificates, skip_unsupported};
use serde_json::{Value, json};

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, assert_passes, find_check, wait_until};
use crate::fleet_site::{FleetSite, LONG, hosts};

#[test]
fn distributed_run_on_two_hosts_is_fully_audited() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let mix = [
        "--set",
        "workload.update_pct=30",
        "--set",
        "workload.lookup_pct=30",
        "--set",
        "run.ops_per_session=250",
    ];
    let _agents = [site.agent("a1"), site.agent("a2")];
    let (code, record) =
        site.json("run", "2", &[&mix[..], &["--weights", "3,1", "--set", "run.warmup=0s"]].concat());
    assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
    assert_fits_schema(&record);
    let named: Vec<String> = hosts(&record)
        .iter()
        .map(|host| format!("{} {} {}", host["rank"], host["name"], host["sessions"]))
        .collect();
    assert_eq!(named, ["0 \"a1\" 3", "1 \"a2\" 1"]);
    for name in ["sessions", "commits_whole", "rows_updated_whole", "heap_reads_whole", "update_values"] {
        assert_passes(&record, name);
    }
    // The accuracy of clocks depends on the machine: on a busy one it may be a reservation.
    let together = find_check(&record, "hosts");
    assert!(together["status"] != "fail", "{together:#}");
    assert!(together["observed"] == "2 hosts", "{together:#}");
    let of_hosts: u64 = hosts(&record).iter().map(|host| host["ops"].count()).sum();
    assert_eq!(record["ops"]["all"]["count"], of_hosts, "merged, and none lost");
    assert!(record["ops"]["all"]["service_us"]["p99"].number() > 0.0);
    assert!(record["metrics"]["client_cpu_us_per_op"]["value"].number() > 0.0);
    // One account of the processors, to the last tick; agents on this host are the client.
    let counter = |name: &str| record["hosts"][0]["counters"][name].as_f64().unwrap_or(0.0);
    let sum = |names: &[&str]| names.iter().map(|name| counter(name)).sum::<f64>();
    let kinds = ["user", "nice", "system", "irq", "softirq", "iowait", "steal", "idle"];
    let kinds = kinds.map(|kind| format!("processors.{kind}_s"));
    let all = sum(&kinds.each_ref().map(String::as_str));
    assert!((all - counter("processors.capacity_s")).abs() < 1e-6, "{}", record["hosts"][0]);
    let parts = ["own.cpu_s", "server.cpu_s", "kernel.cpu_s", "interrupts.cpu_s", "others.cpu_s"];
    assert!((sum(&parts) - counter("processors.busy_s")).abs() < 1e-6, "{}", record["hosts"][0]);
    let clients = hosts(&record).iter().map(|host| host["client_cpus"].number()).sum::<f64>();
    let own_cpus = counter("own.cpu_s") / record["window"]["seconds"].number();
    assert!(own_cpus > clients * 0.5, "agents are the client: {own_cpus} and {clients}");
    let least: u64 = record["whole"]["ops"].fields().values().map(|ops| ops.count()).sum();
    assert!(least >= 1_000, "{}", record["whole"]["ops"]);
    // The record is stored, so the agents delete their results.
    wait_until("the agents forget", || {
        ["a1", "a2"].iter().all(|name| std::fs::read_dir(site.keep_folder(name)).unwrap().next().is_none())
    });
}

#[test]
fn sweep_keeps_its_driver_hosts_between_runs() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let _agents = [site.agent("a1"), site.agent("a2")];
    let more = ["--set", "sweep.sessions=1,4", "--set", "run.time=1s"];
    let (code, swept) = site.json("sweep", "2", &more);
    assert_eq!(code, 0, "{swept:#}");
    // One session is on one host, and the other host stays reserved for the next step.
    let mut led = ["last", "last~1"].map(|run| hosts(&site.desk.json(&["show", run]).1).len());
    led.sort_unstable();
    assert_eq!(led, [1, 2]);
    let args = site.args("run", "2", "60s", &["--set", "run.sessions_per_schema=1"]);
    let refused = site.desk.dyno(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refused.code != 0, "{refused:#?}");
    assert!(refused.err.contains("too few for 2 hosts"), "{refused:#?}");
}

#[test]
fn killed_driver_host_ends_run_and_record_names_it() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let (_a1, a2) = (site.agent("a1"), site.agent("a2"));
    let leader = site.start_in_window(&[]);
    a2.signal("KILL");
    let output = leader.wait();
    assert_eq!(output.code, 3, "{output:#?}");
    let (_, record) = site.desk.json(&["show", "last"]);
    assert_eq!(record["status"], "failed");
    assert!(
        record["reasons"][0].text().contains("driver host 2 of 2 (a2) was lost"),
        "{}",
        record["reasons"]
    );
    let hosts_check = find_check(&record, "hosts");
    assert_eq!(hosts_check["status"], "fail");
    assert!(hosts_check["detail"].text().contains("short of 1 of 2 hosts"), "{hosts_check:#}");
    assert!(hosts(&record)[0]["ops"].count() > 0, "what the other measured is there: {:#}", record["fleet"]);
}

#[test]
fn run_may_continue_without_lost_host_but_is_never_valid() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let (a1, a2) = (site.agent("a1"), site.agent("a2"));
    let mut leader =
        site.start("2", "3s", &["--allow-short", "--set", "run.time=8s", "--set", "workload.rate=100/s"]);
    leader.wait_for_line("window");
    // One host is suspended for a second, far below the silence after which it would be lost.
    a1.signal("STOP");
    let end = site.server.psql("SELECT clock_timestamp() + interval '1 s'");
    let is_over = format!("SELECT clock_timestamp() > '{end}'");
    wait_until("the stall", || site.server.psql(&is_over) == "t");
    a1.signal("CONT");
    a2.signal("KILL");
    let output = leader.wait();
    assert_eq!(output.code, 1, "{output:#?}");
    let (_, record) = site.desk.json(&["show", "last"]);
    assert_eq!(record["status"], "invalid", "{}", record["reasons"]);
    let stalled = &hosts(&record)[0];
    assert!(stalled["stall_us_max"].number() > 900_000.0, "{stalled:#}");
    assert!(stalled["stall_s"].number() > 0.9, "{stalled:#}");
    let stalls = find_check(&record, "stalls");
    assert_eq!(stalls["status"], "fail", "more than a tenth of the window: {stalls:#}");
    assert!(stalls["detail"].text().contains("on driver host a1"), "{stalls:#}");
    assert!(record["reasons"].to_string().contains("short of 1 of 2 hosts"), "{}", record["reasons"]);
}

#[test]
fn results_of_a_lost_controller_are_collected() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let mut agents = [site.agent("a1"), site.agent("a2")];
    let leader = site.start_in_window(&[]);
    leader.signal("KILL");
    agents.iter_mut().for_each(|agent| agent.wait_for_line("they are stored here"));
    let collected = &site.collect_runs()["collected"];
    assert_eq!(collected.items().len(), 1, "{collected:#}");
    assert_eq!((&collected[0]["hosts"], &collected[0]["of"]), (&json!(2), &json!(2)));
    let (_, record) = site.desk.json(&["show", "last"]);
    assert_eq!(record["status"], "failed");
    assert!(record["reasons"][0].text().contains("controller was lost"), "{}", record["reasons"]);
    assert!(record["ops"]["all"]["count"].count() > 0);
    assert_judged_without_leader(&site, &record);
    assert_eq!(site.collect_runs()["collected"], json!([]), "nobody keeps it any more");
}

/// The audit of a run collected after its controller was lost: it checks what it can, nothing that needs the
/// database's counters passes, and the run is not a result.
fn assert_judged_without_leader(site: &FleetSite, record: &Value) {
    let audit = record["audit"].items();
    assert!(!audit.is_empty(), "it was judged: {record:#}");
    let handed_in = find_check(record, "hosts");
    assert!(handed_in["status"] == "warn", "both are there, and nobody knows their clocks: {handed_in:#}");
    assert!(
        handed_in["observed"] == "2 hosts",
        "both are there, and nobody knows their clocks: {handed_in:#}"
    );
    let sessions = find_check(record, "sessions");
    assert!(sessions["status"] == "pass", "{sessions:#}");
    assert!(sessions["observed"] == "4", "{sessions:#}");
    // The passed checks need neither the database's counters nor data known only to the controller. Sessions
    // end their operations in time, so that none fails because its agent is alone.
    let passed: Vec<&str> =
        audit.iter().filter(|found| found["status"] == "pass").map(|found| found["check"].text()).collect();
    assert_eq!(passed, ["sessions", "errors"], "{audit:#?}");
    assert!(record["window"].is_null(), "{record:#}");
    let shown = site.desk.dyno(&["show", "last", "--table"]);
    assert!(shown.out.contains("failed"), "{}", shown.out);
    assert!(shown.out.contains("controller was lost"), "{}", shown.out);
    let compared = site.desk.dyno(&["compare", "last", "last"]);
    assert!(compared.out.contains("summary: invalid"), "{compared:#?}");
    assert!(compared.out.contains("nothing to compare"), "{compared:#?}");
}

#[test]
fn single_process_database_is_refused_before_host_reservation() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("bench.db").display());
    // Nothing listens there: a command that tried to connect would fail.
    for command in ["run", "sweep", "search", "soak", "suite"] {
        let more: &[&str] = match command {
            "search" => &["--limit", "p99 <= 10ms"],
            "soak" => &["--time", "10s"],
            "sweep" => &["--set", "sweep.sessions=2,4"],
            _ => &[],
        };
        let args =
            [&[command, "--target", &url, "--hosts", "2", "--nats", "nats://127.0.0.1:1"][..], more].concat();
        let output = desk.dyno(&args);
        assert_eq!(output.code, 2, "{command}: {output:#?}");
        assert!(output.err.contains("SQLite works inside this program"), "{}", output.err);
        assert!(output.err.contains("leave --hosts out"), "{}", output.err);
    }
}

#[test]
fn lost_nats_server_keeps_data_on_controller_and_agents() {
    let Some(mut site) = FleetSite::new(Nats::start(&[])) else { return };
    let mut agents = [site.agent("a1"), site.agent("a2")];
    let leader = site.start_in_window(&[]);
    site.nats.kill();
    let output = leader.wait();
    assert_eq!(output.code, 3, "{output:#?}");
    let (_, record) = site.desk.json(&["show", "last"]);
    assert_eq!(record["status"], "failed");
    assert_eq!(record["ops"]["all"]["count"].as_u64().unwrap_or(0), 0, "nothing could be handed in");
    agents.iter_mut().for_each(|agent| agent.wait_for_line("they are stored here"));
    site.nats.start_server();
    wait_until("agents are back", || {
        !site.collect_runs()["collected"].items().is_empty() || {
            let (_, record) = site.desk.json(&["show", "last"]);
            record["ops"]["all"]["count"].as_u64().unwrap_or(0) > 0
        }
    });
    let (_, record) = site.desk.json(&["show", "last"]);
    assert!(record["ops"]["all"]["count"].count() > 0, "{}", record["reasons"]);
    assert!(record["reasons"].to_string().contains("collected after its end"), "{}", record["reasons"]);
}

#[test]
fn second_controller_is_refused_and_first_one_is_named() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let _agents = [site.agent("a1"), site.agent("a2")];
    let leader = site.start_in_window(&[]);
    let second_args = site.args("run", "2", "60s", &["--wait-hosts", "1s"]);
    let output = site.desk.dyno(&second_args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(output.err.contains("0 of 2 agents of group t are free"), "{}", output.err);
    assert!(output.err.contains("a1 by host"), "{}", output.err);
    leader.signal("INT");
    assert_eq!(leader.wait().code, 130, "the first went on");
}

/// A raw NATS client that can send anything.
pub struct RawNatsClient {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
}

impl RawNatsClient {
    pub fn connect(nats: &Nats) -> Self {
        let stream = TcpStream::connect(nats.address()).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        let mut stranger = Self { stream, lines };
        stranger.send_line("CONNECT {\"verbose\":false,\"pedantic\":false}");
        stranger
    }

    pub fn send_line(&mut self, line: &str) {
        write!(self.stream, "{line}\r\n").unwrap();
    }

    pub fn publish(&mut self, subject: &str, bytes: &[u8]) {
        write!(self.stream, "PUB {subject} {}\r\n", bytes.len()).unwrap();
        self.stream.write_all(bytes).unwrap();
        self.stream.write_all(b"\r\n").unwrap();
    }

    /// The next message: its reply subject and its text.
    pub fn next_message(&mut self) -> (String, String) {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the server hung up");
            if line.starts_with("PING") {
                self.send_line("PONG");
            }
            let Some(head) = line.strip_prefix("MSG ") else { continue };
            let words: Vec<&str> = head.split_whitespace().collect();
            let length: usize = words.last().unwrap().parse().unwrap();
            let mut bytes = vec![0; length + 2];
            std::io::Read::read_exact(&mut self.lines, &mut bytes).unwrap();
            let reply = if words.len() == 4 { words[2].to_owned() } else { String::new() };
            return (reply, String::from_utf8_lossy(&bytes[..length]).into_owned());
        }
    }
}

#[test]
fn agent_of_other_version_is_refused_with_both_versions() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let _agent = site.agent("a1");
    let mut stranger = RawNatsClient::connect(&site.nats);
    stranger.send_line("SUB dyno.t.all 1");
    let leader = site.start("2", "60s", &[]);
    let (reply, call) = stranger.next_message();
    let protocol = serde_json::from_str::<Value>(&call).unwrap()["protocol"].clone();
    let hello = json!({ "protocol": protocol, "version": "9.9.9", "id": "old", "name": "old\u{1b}[31m", "place": null,
                        "cpus": 2, "busy": null, "keeps": 0 });
    stranger.publish(&reply, hello.to_string().as_bytes());
    let output = leader.wait();
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(output.err.contains("runs dyno 9.9.9"), "{}", output.err);
    assert!(output.err.contains("install the same version"), "{}", output.err);
    assert!(!output.err.contains('\u{1b}'), "a name is text");
}

#[test]
fn messages_of_unknown_clients_break_neither_agent_nor_run() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let mut agents = [site.agent("a1"), site.agent("a2")];
    let mut stranger = RawNatsClient::connect(&site.nats);
    stranger.send_line("SUB dyno.t.> 1");
    let mut leader = site.start("2", "60s", &["--set", "run.time=4s", "--set", "workload.rate=100/s"]);
    leader.wait_for_line("window");
    let run = loop {
        let (_, text) = stranger.next_message();
        if let Some(at) = text.find("\"run_id\":\"") {
            break text[at + 10..].split('"').next().unwrap().to_owned();
        }
    };
    let agent = {
        let mut probe = RawNatsClient::connect(&site.nats);
        probe.send_line("SUB answers 1");
        let call = json!({ "protocol": 1, "version": "x", "leader": { "id": "evil", "words": "nobody" } });
        probe.publish("dyno.t.all answers", call.to_string().as_bytes());
        let hello: Value = serde_json::from_str(&probe.next_message().1).unwrap();
        hello["id"].text().to_owned()
    };
    for bytes in [&b"{"[..], &[0xFF; 100], &vec![b'['; 500_000], b"{\"rank\":9999,\"number\":1}"] {
        for subject in
            ["all".to_owned(), format!("agent.{agent}"), format!("report.{run}"), format!("upload.{run}")]
        {
            stranger.publish(&format!("dyno.t.{subject}"), bytes);
        }
    }
    let reserve =
        json!({ "Reserve": { "leader": { "id": "evil", "words": "nobody" }, "silence_ms": 5_000 } });
    stranger.publish(&format!("dyno.t.agent.{agent}"), reserve.to_string().as_bytes());
    stranger.publish(
        &format!("dyno.t.agent.{agent}"),
        json!({ "Forget": "../../etc/passwd" }).to_string().as_bytes(),
    );
    stranger.publish(&format!("dyno.t.agent.{agent}"), json!({ "Release": "evil" }).to_string().as_bytes());
    let output = leader.wait();
    assert_eq!(output.code, 0, "{output:#?}");
    agents.iter_mut().for_each(|agent| assert!(agent.pid() > 0));
}

#[test]
fn hostile_agent_is_limited_and_fails_its_run() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let _agents = [site.agent("a1"), site.agent("a2")];
    let mut stranger = RawNatsClient::connect(&site.nats);
    stranger.send_line("SUB dyno.t.report.* 1");
    let mut leader = site.start("2", "60s", &LONG);
    leader.wait_for_line("window");
    // Impossible data sent in a host's name makes that host untrusted.
    let (_, _) = stranger.next_message();
    let (_, list) = site.desk.json(&["list"]);
    let run = list.to_string().split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let wild = json!({ "Intervals": { "rank": 1, "number": 0, "intervals": [
        { "target": 0, "index": 1u64 << 60, "ops": 5, "errors": 0, "classes": [], "latency": [] }] } });
    stranger.publish(&format!("dyno.t.upload.{run}"), wild.to_string().as_bytes());
    let output = leader.wait();
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(output.out.contains("it sent invalid data"), "{}", output.out);
}

#[test]
fn nats_token_is_required_and_never_shown() {
    let Some(site) = FleetSite::new(Nats::start(&["--auth", "s3cr3t-t0ken"])) else { return };
    let nats = site.nats.url();
    let refused = site.desk.dyno(&["run", "--target", &site.server.url(), "--hosts", "1", "--nats", &nats]);
    assert_eq!(refused.code, 3, "{refused:#?}");
    assert!(refused.err.to_lowercase().contains("authorization"), "{}", refused.err);
    let in_url = format!("nats://user:s3cr3t-t0ken@{}", site.nats.address());
    let refused = site.desk.dyno(&["agent", "--nats", &in_url]);
    assert_eq!(refused.code, 2);
    assert!(!refused.err.contains("s3cr3t"), "{}", refused.err);

    let agent = site.agent_with("a1", &[("DYNO_NATS_TOKEN", "s3cr3t-t0ken")], &[]);
    site.desk.write("nats.toml", "token = \"s3cr3t-t0ken\"\n");
    let more = ["--nats-auth", "nats.toml", "--set", "run.time=1s", "--verbose"];
    let args = site.args("run", "1", "60s", &more);
    let output = site.desk.dyno(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.code, 0, "{output:#?}");
    agent.signal("INT");
    let agent = agent.wait();
    assert_eq!(agent.code, 0, "{agent:#?}");
    let title = std::fs::read(site.desk.file("runs.sqlite3")).unwrap();
    let all = [output.out.as_bytes(), output.err.as_bytes(), agent.err.as_bytes(), &title].concat();
    assert!(!all.windows(12).any(|bytes| bytes == b"s3cr3t-t0ken"), "the token is somewhere it must not be");
}

/// Seed and public key of an nkey that only this test knows.
const NKEY: [&str; 2] = [
    "SUAA54Y5YKYHGGSEZM4VDGZNT2YWBVV63CD6UQL6VHZLZBOHDRZ234Q2EI",
    "UDKZH4YRQPUMFLN7NP2IMBQUBFFES6BGKUAZNZW3LXSEXFPWPSZSIDNQ",
];

#[test]
fn nats_user_nkey_or_certificate_is_required() {
    let user = "authorization { users = [{ user: dyno, password: \"pa55-w0rd\", permissions: {
        publish: [\"dyno.>\", \"_INBOX.>\"], subscribe: [\"dyno.>\", \"_INBOX.>\"] } }] }";
    let Some(mut site) = FleetSite::new(Nats::with_config(user, &[])) else { return };
    let made = certificates::make();
    let (client_cert, own_key) = made.client("dyno");
    for (name, pem) in [("ca.pem", &made.ca_cert), ("own.pem", &client_cert), ("own.key", &own_key)] {
        site.desk.write(name, pem);
    }
    assert_leader_authenticates(
        &site,
        &site.nats.url(),
        "user = \"dyno\"\npassword = \"pa55-w0rd\"\n",
        "authorization",
    );

    let nkey = format!("authorization {{ users = [{{ nkey: {} }}] }}", NKEY[1]);
    site.nats = Nats::with_config(&nkey, &[]).unwrap();
    assert_leader_authenticates(
        &site,
        &site.nats.url(),
        &format!("nkey = \"{}\"\n", NKEY[0]),
        "authorization",
    );

    let tls =
        "tls { cert_file: \"FOLDER/server.pem\", key_file: \"FOLDER/server.key\", ca_file: \"FOLDER/ca.pem\",
        verify: true }";
    let files =
        [("server.pem", &*made.server_cert), ("server.key", &*made.server_key), ("ca.pem", &*made.ca_cert)];
    site.nats = Nats::with_files(tls, &files, &[]).unwrap();
    let url = site.nats.url().replace("nats://127.0.0.1", "tls://localhost");
    assert_leader_authenticates(
        &site,
        &url,
        "ca = \"ca.pem\"\ncertificate = \"own.pem\"\nkey = \"own.key\"\n",
        "certificate",
    );
}

/// A run over a server that accepts clients with `auth` and refuses others with an error that contains
/// `word`.
fn assert_leader_authenticates(site: &FleetSite, url: &str, auth: &str, word: &str) {
    site.desk.write("auth.toml", auth);
    let keep = site.keep_folder("a1");
    let agent = ["agent", "--nats", url, "--group", "t", "--name", "a1", "--keep", keep.to_str().unwrap()];
    let mut agent = site.desk.start_with(&[], &[&agent[..], &["--nats-auth", "auth.toml"]].concat());
    agent.wait_for_line("waits in group t");
    let mut args = site.args("run", "1", "60s", &["--set", "run.time=1s"]);
    // The address of this server replaces the site's.
    let nats = args.iter().position(|arg| arg == "--nats").unwrap();
    url.clone_into(&mut args[nats + 1]);
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    let refused = site.desk.dyno(&args);
    assert_eq!(refused.code, 3, "{auth}: {refused:#?}");
    assert!(refused.err.to_lowercase().contains(word), "{}", refused.err);
    args.extend(["--nats-auth", "auth.toml"]);
    let output = site.desk.dyno(&args);
    assert_eq!(output.code, 0, "{auth}: {output:#?}");
    agent.signal("INT");
    assert_eq!(agent.wait().code, 0);
}

#[test]
fn driver_host_with_wrong_wall_clock_works_normally() {
    let arches = ["x86_64", "aarch64"];
    let libraries =
        arches.map(|arch| PathBuf::from(format!("/usr/lib/{arch}-linux-gnu/faketime/libfaketime.so.1")));
    let Some(library) = libraries.iter().find(|path| path.exists()) else {
        skip_unsupported("the test of a moved clock", "libfaketime is not here");
        return;
    };
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let env = [
        ("LD_PRELOAD", library.to_str().unwrap()),
        ("FAKETIME", "+3d"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    let _agents = [site.agent_with("moved", &env, &[]), site.agent("still")];
    let (code, record) = site.json("run", "2", &["--set", "run.time=1s"]);
    assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
    assert_eq!(find_check(&record, "commits_whole")["status"], "pass");
    let bound_us = hosts(&record).iter().map(|host| host["clock"]["bound_us"].number()).fold(0.0, f64::max);
    assert!(bound_us > 0.0, "{:#}", record["fleet"]);
}
