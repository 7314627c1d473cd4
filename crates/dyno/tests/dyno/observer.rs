//! Observes the database host through an agent over a real NATS server. Its figures must equal this machine's
//! own, it never drives sessions, and impossible data sent in its name is rejected.

use dyno_testbed::{Nats, Postgres};
use serde_json::{Value, json};

use crate::common::json::ExpectJson;
use crate::common::{Running, TestEnv, find_check};
use crate::fleet::RawNatsClient;
use crate::hosts::{RUN, assert_tells_the_same, number};

/// A server with some data, a NATS server, and a test environment.
struct ObserverSite {
    desk: TestEnv,
    server: Postgres,
    nats: Nats,
}

impl ObserverSite {
    fn new() -> Option<Self> {
        let version = Postgres::available().into_iter().next()?;
        let nats = Nats::start(&[])?;
        let site = Self { desk: TestEnv::new(), server: Postgres::start(&version, &[]), nats };
        let load = ["load", "--target", &site.server.url(), "--set", "data.scale=500 blocks"];
        let output = site.desk.dyno(&load);
        assert_eq!(output.code, 0, "{output:#?}");
        Some(site)
    }

    /// An agent that only observes.
    fn observer(&self, name: &str) -> Running {
        let nats = self.nats.url();
        let args = ["agent", "--observe-only", "--nats", &nats, "--group", "t", "--name", name];
        let mut agent = self.desk.start(&args);
        agent.wait_for_line(&format!("observe.hosts=agent://{name}"));
        agent
    }

    /// Arguments of a command that observes this machine through the agent.
    fn args(&self, command: &str, hosts: &str, more: &[&str]) -> Vec<String> {
        let (url, nats) = (self.server.url(), self.nats.url());
        let hosts = format!("observe.hosts={hosts}");
        let head = [command, "--target", &url, "--set", "data.scale=500 blocks", "--set", &hosts];
        let all = [&head[..], &["--nats", &nats, "--host-group", "t"], more].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    fn run(&self, hosts: &str) -> (i32, Value) {
        let args = self.args("run", hosts, &RUN);
        self.desk.json(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Asserts that a run is refused with these words and leaves nothing.
    fn assert_refused(&self, hosts: &str, more: &[&str], words: &[&str]) {
        let args = self.args("run", hosts, &[&RUN[..], more].concat());
        let output = self.desk.dyno(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(output.code, 3, "{hosts}: {output:#?}");
        let text = output.err.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(text.contains(word), "{hosts}: {word}: {text}");
        }
        let (_, runs) = self.desk.json(&["list"]);
        assert_eq!(runs.as_array().map(Vec::len), Some(0), "nothing was begun: {runs}");
    }
}

#[test]
fn agent_reports_same_host_data_as_local_observer() {
    let Some(site) = ObserverSite::new() else { return };
    let mut agent = site.observer("db1");
    let (code, record) = site.run("agent");
    assert_eq!(code, 0, "{record:#}");
    assert_tells_the_same(&record);
    agent.wait_for_line("observed by host");
    let observed_host = &record["hosts"][1];
    let clock = &observed_host["observed"]["clock"];
    assert!(number(&clock["ahead_s"]).abs() <= number(&clock["bound_s"]) + 0.05, "it is one clock: {clock}");
    assert_eq!(observed_host["facts"]["boot_id"], record["hosts"][0]["facts"]["boot_id"]);
    assert!(
        !observed_host["facts"].fields().keys().any(|name| name.starts_with("cgroup.")),
        "{observed_host:#}"
    );

    let args = site.args("check", "agent://db1", &[]);
    let output = site.desk.dyno(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(output.out.contains("agent://db1"), "{output:#?}");
    assert!(output.out.contains("answers in"), "{output:#?}");
}

#[test]
fn observing_agent_is_found_by_name_and_never_drives() {
    let Some(site) = ObserverSite::new() else { return };
    site.assert_refused("agent", &[], &["no observer is in group t", "dyno agent --observe-only"]);
    let _agents = [site.observer("db1"), site.observer("db2")];
    site.assert_refused("agent", &[], &["2 observers are in group t: db1, db2", "write agent://NAME"]);
    site.assert_refused(
        "agent://db3",
        &[],
        &["no observer of that name is in group t; observers there: db1, db2"],
    );
    // A controller that reserves driver hosts does not find observers.
    site.assert_refused(
        "agent://db1",
        &["--hosts", "1", "--wait-hosts", "1s"],
        &["0 of 1 agents of group t answered within 1 s"],
    );
}

#[test]
fn run_is_stored_after_observing_agent_is_lost() {
    let Some(site) = ObserverSite::new() else { return };
    let agent = site.observer("db1");
    let args = site.args("run", "agent://db1", &[&RUN[..], &["--set", "run.time=5m", "--json"]].concat());
    let mut run = site.desk.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let after = |run: &mut Running, more: usize| {
        let intervals = run.stderr_text.matches("ops/s").count();
        while run.stderr_text.matches("ops/s").count() < intervals + more {
            run.next_line().unwrap();
        }
    };
    after(&mut run, 4);
    agent.signal("KILL");
    // It counts as lost after three seconds of silence; an interval is half a second.
    after(&mut run, 16);
    run.signal("INT");
    let output = run.wait();
    let record: Value =
        serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    let observed = &record["hosts"][1]["observed"];
    assert!(observed["lost"].text().contains("agent://db1: it was lost"), "{observed:#}");
    let absent = &record["metrics"]["cpu_busy_pct"]["absent"];
    assert!(absent.as_str().is_some_and(|why| why.contains("agent://db1")), "{absent}");
    let points = record["series"]["points"].items();
    let busy = points.iter().filter(|point| point["metrics"]["cpu_busy_pct"].is_number()).count();
    assert!(busy >= 2, "{busy} of {}", points.len());
    assert!(busy < points.len(), "{busy} of {}", points.len());
    assert_eq!(find_check(&record, "host_readings")["status"], "warn");
}

#[test]
fn forged_agent_answers_are_rejected() {
    let Some(site) = ObserverSite::new() else { return };
    for (version, answer, words) in [
        ("9.9.9", Value::Null, ["runs dyno 9.9.9", "install the same version"]),
        ("own", json!({ "Fly": 1 }), ["not a message of this version", "answers in its name"]),
        ("own", json!({ "Refused": "\u{1b}[31mno" }), ["it refuses: [31mno", "answers in its name"]),
        (
            "own",
            json!({ "Clock": { "begin_ns": 9, "end_ns": 1, "resolution_ns": 0 } }),
            ["it sent an unexpected answer", ""],
        ),
    ] {
        let mut stranger = RawNatsClient::connect(&site.nats);
        stranger.send_line("SUB dyno.t.observers 1");
        stranger.send_line("SUB dyno.t.observer.evil 2");
        let args = site.args("run", "agent", &RUN);
        let leader = site.desk.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let (reply, call) = stranger.next_message();
        let call: Value = serde_json::from_str(&call).unwrap();
        let version = if version == "own" { call["version"].text() } else { version };
        let hello = json!({ "protocol": call["protocol"], "version": version, "id": "evil", "name": "db1", "place": null,
                            "cpus": 2, "busy": null, "keeps": 0 });
        stranger.publish(&reply, hello.to_string().as_bytes());
        if !answer.is_null() {
            let (reply, request_text) = stranger.next_message();
            assert!(request_text.contains("Describe"), "{request_text}");
            stranger.publish(&reply, answer.to_string().as_bytes());
        }
        let output = leader.wait();
        assert_eq!(output.code, 3, "{output:#?}");
        let text = output.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    // An agent keeps its role, whatever message it receives.
    let mut agent = site.observer("db1");
    let mut stranger = RawNatsClient::connect(&site.nats);
    stranger.send_line("SUB answers 1");
    let call = json!({ "protocol": 1, "version": "x", "leader": { "id": "evil", "words": "nobody" } });
    stranger.publish("dyno.t.observers answers", call.to_string().as_bytes());
    let hello: Value = serde_json::from_str(&stranger.next_message().1).unwrap();
    let subject = format!("dyno.t.observer.{} answers", hello["id"].text());
    let places = vec![json!(["data", "/"]); 17];
    for bytes in [
        b"{".to_vec(),
        vec![0xFF; 100],
        vec![b'['; 500_000],
        json!({ "Read": { "places": [["data", "../etc"]] } }).to_string().into_bytes(),
        json!({ "Read": { "places": places } }).to_string().into_bytes(),
    ] {
        stranger.publish(&subject, &bytes);
        assert!(stranger.next_message().1.contains("Refused"));
    }
    let (code, record) = site.run("agent://db1");
    assert_eq!(code, 0, "{record:#}");
    agent.wait_for_line("observed by host");
}
