//! The database's machine looked at through an agent on it, over a real NATS server: what it tells has to be what this machine tells of
//! itself, it never drives, and whoever speaks in its name is believed no more than a machine can say.

use dyno_testbed::{Nats, Postgres};
use serde_json::{Value, json};

use crate::common::{Desk, Running, check};
use crate::fleet::Stranger;
use crate::hosts::{RUN, assert_tells_the_same, number};

/// A server with some data, a meeting point, and a desk.
struct Site {
    desk: Desk,
    server: Postgres,
    nats: Nats,
}

impl Site {
    fn new() -> Option<Self> {
        let version = Postgres::available().into_iter().next()?;
        let nats = Nats::start(&[])?;
        let site = Self { desk: Desk::new(), server: Postgres::start(&version, &[]), nats };
        let load = ["load", "--target", &site.server.url(), "--set", "data.scale=500 blocks"];
        let said = site.desk.dyno(&load);
        assert_eq!(said.code, 0, "{said:#?}");
        Some(site)
    }

    /// An agent that only observes.
    fn observer(&self, name: &str) -> Running {
        let nats = self.nats.url();
        let args = ["agent", "--observe-only", "--nats", &nats, "--group", "t", "--name", name];
        let mut agent = self.desk.start(&args);
        agent.until(&format!("observe.hosts=agent://{name}"));
        agent
    }

    /// What looks at this machine so.
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

    /// That a run is refused with these words, and leaves nothing.
    fn refused(&self, hosts: &str, more: &[&str], words: &[&str]) {
        let args = self.args("run", hosts, &[&RUN[..], more].concat());
        let said = self.desk.dyno(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(said.code, 3, "{hosts}: {said:#?}");
        let text = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(text.contains(word), "{hosts}: {word}: {text}");
        }
        let (_, runs) = self.desk.json(&["list"]);
        assert_eq!(runs.as_array().map(Vec::len), Some(0), "nothing was begun: {runs}");
    }
}

#[test]
fn a_machine_behind_an_agent_tells_what_it_tells_of_itself() {
    let Some(site) = Site::new() else { return };
    let mut agent = site.observer("db1");
    let (code, record) = site.run("agent");
    assert_eq!(code, 0, "{record:#}");
    assert_tells_the_same(&record);
    agent.until("looked at by host");
    let there = &record["hosts"][1];
    let clock = &there["observed"]["clock"];
    assert!(number(&clock["ahead_s"]).abs() <= number(&clock["bound_s"]) + 0.05, "it is one clock: {clock}");
    assert_eq!(there["facts"]["boot_id"], record["hosts"][0]["facts"]["boot_id"]);
    assert!(!there["facts"].as_object().unwrap().keys().any(|name| name.starts_with("cgroup.")), "{there:#}");

    let args = site.args("check", "agent://db1", &[]);
    let said = site.desk.dyno(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.out.contains("agent://db1") && said.out.contains("answers in"), "{said:#?}");
}

#[test]
fn an_agent_that_observes_is_found_by_its_name_and_never_drives() {
    let Some(site) = Site::new() else { return };
    site.refused("agent", &[], &["no agent that observes is in group t", "dyno agent --observe-only"]);
    let _agents = [site.observer("db1"), site.observer("db2")];
    site.refused("agent", &[], &["2 agents observe in group t: db1, db2", "write agent://NAME"]);
    site.refused("agent://db3", &[], &["none of that name is in group t; there: db1, db2"]);
    // Whoever gathers driver hosts does not meet them.
    site.refused(
        "agent://db1",
        &["--hosts", "1", "--wait-hosts", "1s"],
        &["0 of 1 agents of group t were there after 1 s"],
    );
}

#[test]
fn an_agent_that_goes_away_ends_in_a_stored_run() {
    let Some(site) = Site::new() else { return };
    let agent = site.observer("db1");
    let args = site.args("run", "agent://db1", &[&RUN[..], &["--set", "run.time=5m", "--json"]].concat());
    let mut run = site.desk.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let after = |run: &mut Running, more: usize| {
        let intervals = run.heard.matches("ops/s").count();
        while run.heard.matches("ops/s").count() < intervals + more {
            run.line().unwrap();
        }
    };
    after(&mut run, 4);
    agent.signal("KILL");
    // It is missed for three seconds before it counts as lost; an interval has half a second.
    after(&mut run, 16);
    run.signal("INT");
    let said = run.end();
    let record: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
    let observed = &record["hosts"][1]["observed"];
    assert!(observed["lost"].as_str().unwrap().contains("agent://db1: it was lost"), "{observed:#}");
    let absent = &record["metrics"]["cpu_busy_pct"]["absent"];
    assert!(absent.as_str().is_some_and(|why| why.contains("agent://db1")), "{absent}");
    let points = record["series"]["points"].as_array().unwrap();
    let busy = points.iter().filter(|point| point["metrics"]["cpu_busy_pct"].is_number()).count();
    assert!(busy >= 2 && busy < points.len(), "{busy} of {}", points.len());
    assert_eq!(check(&record, "host_readings")["status"], "warn");
}

#[test]
fn whoever_speaks_in_an_agents_name_is_limited() {
    let Some(site) = Site::new() else { return };
    for (version, answer, words) in [
        ("9.9.9", Value::Null, ["is of dyno 9.9.9", "install the same version"]),
        ("own", json!({ "Fly": 1 }), ["no message of this version", "answers in its name"]),
        ("own", json!({ "Refused": "\u{1b}[31mno" }), ["it refuses: [31mno", "answers in its name"]),
        (
            "own",
            json!({ "Clock": { "begin_ns": 9, "end_ns": 1, "resolution_ns": 0 } }),
            ["it answers what was not asked", ""],
        ),
    ] {
        let mut stranger = Stranger::at(&site.nats);
        stranger.say("SUB dyno.t.observers 1");
        stranger.say("SUB dyno.t.observer.evil 2");
        let args = site.args("run", "agent", &RUN);
        let leader = site.desk.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let (reply, call) = stranger.next();
        let call: Value = serde_json::from_str(&call).unwrap();
        let version = if version == "own" { call["version"].as_str().unwrap() } else { version };
        let hello = json!({ "protocol": call["protocol"], "version": version, "id": "evil", "name": "db1", "place": null,
                            "cpus": 2, "busy": null, "keeps": 0 });
        stranger.publish(&reply, hello.to_string().as_bytes());
        if !answer.is_null() {
            let (reply, asked) = stranger.next();
            assert!(asked.contains("Describe"), "{asked}");
            stranger.publish(&reply, answer.to_string().as_bytes());
        }
        let said = leader.end();
        assert_eq!(said.code, 3, "{said:#?}");
        let text = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    // An agent stays what it is, whatever is said to it.
    let mut agent = site.observer("db1");
    let mut stranger = Stranger::at(&site.nats);
    stranger.say("SUB answers 1");
    let call = json!({ "protocol": 1, "version": "x", "leader": { "id": "evil", "words": "nobody" } });
    stranger.publish("dyno.t.observers answers", call.to_string().as_bytes());
    let hello: Value = serde_json::from_str(&stranger.next().1).unwrap();
    let subject = format!("dyno.t.observer.{} answers", hello["id"].as_str().unwrap());
    let places = vec![json!(["data", "/"]); 17];
    for bytes in [
        b"{".to_vec(),
        vec![0xFF; 100],
        vec![b'['; 500_000],
        json!({ "Read": { "places": [["data", "../etc"]] } }).to_string().into_bytes(),
        json!({ "Read": { "places": places } }).to_string().into_bytes(),
    ] {
        stranger.publish(&subject, &bytes);
        assert!(stranger.next().1.contains("Refused"));
    }
    let (code, record) = site.run("agent://db1");
    assert_eq!(code, 0, "{record:#}");
    agent.until("looked at by host");
}
