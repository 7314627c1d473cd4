//! Driver hosts with a group key and a list of targets: what an attacker without either can do on the NATS
//! server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use dyno_testbed::Nats;
use serde_json::{Value, json};

use crate::common::json::ExpectJson;
use crate::common::{CommandOutput, Running};
use crate::fleet_site::{FleetSite, hosts};

const KEY: &str = "9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d";
const OTHER_KEY: &str = "0b1deb4d3b7d4bad9bdd2b0d7b3dcb6d9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d";

/// A NATS client that sends messages which no Dyno program would.
struct Attacker {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
}

/// A message as captured on the wire.
struct CapturedMessage {
    subject: String,
    reply: Option<String>,
    bytes: Vec<u8>,
}

impl Attacker {
    fn connect(nats: &Nats) -> Self {
        let stream = TcpStream::connect(nats.address()).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        let mut attacker = Self { stream, lines };
        attacker.send_line("CONNECT {\"verbose\":false,\"pedantic\":false}");
        attacker.send_line("SUB > 1");
        attacker
    }

    fn send_line(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    fn publish(&mut self, subject: &str, reply: Option<&str>, bytes: &[u8]) {
        let reply = reply.map(|reply| format!(" {reply}")).unwrap_or_default();
        self.send_line(&format!("PUB {subject}{reply} {}", bytes.len()));
        self.stream.write_all(&[bytes, b"\r\n"].concat()).unwrap();
    }

    /// The next message by anyone, including the attacker.
    fn next_message(&mut self) -> CapturedMessage {
        loop {
            let mut line = String::new();
            self.lines.read_line(&mut line).unwrap();
            if line.starts_with("PING") {
                self.send_line("PONG");
            }
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            if words.first() != Some(&"MSG") {
                continue;
            }
            let mut bytes = vec![0; words.last().unwrap().parse::<usize>().unwrap() + 2];
            self.lines.read_exact(&mut bytes).unwrap();
            bytes.truncate(bytes.len() - 2);
            let reply = (words.len() == 5).then(|| words[3].to_owned());
            return CapturedMessage { subject: words[1].to_owned(), reply, bytes };
        }
    }

    /// All messages up to one with the subject `text`.
    fn capture_until(&mut self, subject: &str) -> Vec<CapturedMessage> {
        let mut all = Vec::new();
        while all.last().is_none_or(|last: &CapturedMessage| !last.subject.starts_with(subject)) {
            all.push(self.next_message());
        }
        all
    }
}

struct SecureSite(FleetSite);

impl SecureSite {
    fn new() -> Option<Self> {
        let site = FleetSite::new(Nats::start(&[]))?;
        site.desk.write("group.key", KEY);
        site.desk.write("other.key", OTHER_KEY);
        let listed =
            |writes: bool| format!("[[targets]]\nurl = \"{}\"\nwrites = {writes}\n", site.server.url());
        site.desk.write("agent.toml", &listed(false));
        site.desk.write("writer.toml", &listed(true));
        Some(Self(site))
    }

    fn agent(&self, name: &str, config: &str) -> Running {
        let more = ["--group-key-file", "group.key", "--config", config];
        self.0.agent_with(name, &[("DYNO_INSECURE", "0")], &more)
    }

    fn run(&self, more: &[&str]) -> CommandOutput {
        // An agent of this group is free some time after its run has ended; one of another group never is.
        let wait = if more.starts_with(&SEALED) { "60s" } else { "2s" };
        let args =
            self.0.args("run", "1", "60s", &[&["--set", "run.time=1s", "--wait-hosts", wait], more].concat());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.0.desk.dyno_with(("DYNO_INSECURE", "0"), &args)
    }
}

const SEALED: [&str; 2] = ["--group-key-file", "group.key"];

#[test]
fn agent_serves_only_its_group_and_listed_databases() {
    let Some(secure) = SecureSite::new() else { return };
    let desk = &secure.0.desk;
    // Without a key or a list, an agent reports what is missing.
    let nats = secure.0.nats.url();
    for (args, why) in [
        (&["agent", "--nats", &nats][..], "without a group key"),
        (&["agent", "--nats", &nats, "--group-key-file", "group.key"], "no list of databases"),
    ] {
        let refused = desk.dyno_with(("DYNO_INSECURE", "0"), args);
        assert!(refused.code == 2, "{refused:#?}");
        assert!(refused.err.contains(why), "{refused:#?}");
    }
    let mut agent = secure.agent("a1", "agent.toml");
    let refused = secure.run(&[]);
    assert!(refused.code == 2, "{refused:#?}");
    assert!(refused.err.contains("without a group key"), "{refused:#?}");
    let refused = secure.run(&["--insecure"]);
    assert!(refused.code != 0, "{refused:#?}");
    assert!(refused.err.contains("0 of 1 agents"), "{refused:#?}");
    let refused = secure.run(&["--group-key-file", "other.key"]);
    assert!(refused.code != 0, "{refused:#?}");
    assert!(refused.err.contains("0 of 1 agents"), "{refused:#?}");
    let led = secure.run(&SEALED);
    assert_eq!(led.code, 0, "{led:#?}");
    // The list does not allow writes, and a variable named in a plan is not expanded.
    let refused = secure.run(&[&SEALED[..], &["--set", "workload.update_pct=50"]].concat());
    assert!(refused.code != 0, "{refused:#?}");
    assert!(refused.err.contains("does not allow writes"), "{refused:#?}");
    let refused =
        secure.run(&[&SEALED[..], &["--set", "target.password_env=HOME", "--allow-short"]].concat());
    assert_eq!(refused.code, 0, "a variable that a plan names is not looked up here: {refused:#?}");
    agent.wait_for_line("refused");
    drop(agent);
    let _writer = secure.agent("a2", "writer.toml");
    let led = secure.run(&[&SEALED[..], &["--set", "workload.update_pct=50"]].concat());
    assert_eq!(led.code, 0, "{led:#?}");
}

#[test]
fn replayed_and_forged_messages_change_nothing() {
    let Some(secure) = SecureSite::new() else { return };
    let _agent = secure.agent("a1", "writer.toml");
    let mut attacker = Attacker::connect(&secure.0.nats);
    let led = secure.run(&SEALED);
    assert_eq!(led.code, 0, "{led:#?}");
    attacker.publish("over", None, b"");
    let recorded = attacker.capture_until("over");
    let agent =
        recorded.iter().find_map(|heard| heard.subject.strip_prefix("dyno.t.agent.")).unwrap().to_owned();
    let subject = format!("dyno.t.agent.{agent}");
    assert!(recorded.iter().any(|heard| heard.subject == subject && heard.bytes.starts_with(b"dynofl1")));

    // A run whose results the agent keeps, because its controller was lost.
    let args = secure.0.args(
        "run",
        "1",
        "2s",
        &[&["--set", "run.time=10m", "--set", "workload.rate=100/s"], &SEALED[..]].concat(),
    );
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut leader = secure.0.desk.start_with(&[("DYNO_INSECURE", "0")], &args);
    leader.wait_for_line("window");
    leader.signal("KILL");
    leader.wait();
    let keep = secure.0.keep_folder("a1");
    let kept_run_count = || {
        std::fs::read_dir(&keep)
            .unwrap()
            .filter_map(Result::ok)
            .filter(|file| file.path().extension().is_some_and(|ending| ending == "kept"))
            .count()
    };
    crate::common::wait_until("the agent to keep the run", || kept_run_count() == 1);

    // Replays all messages of the first run unchanged, and also with modified parts to their original
    // subjects.
    for heard in &recorded {
        attacker.publish(&heard.subject, heard.reply.as_deref(), &heard.bytes);
        let mut changed = heard.bytes.clone();
        if let Some(last) = changed.last_mut() {
            *last ^= 1;
        }
        attacker.publish(&heard.subject, heard.reply.as_deref(), &changed);
        attacker.publish(&subject, heard.reply.as_deref(), &heard.bytes);
    }
    // Commands without encryption.
    let leader = json!({ "id": "evil", "words": "nobody" });
    let run = std::fs::read_dir(&keep)
        .unwrap()
        .filter_map(Result::ok)
        .find_map(|file| Some(file.file_name().to_str()?.strip_suffix(".kept")?.to_owned()))
        .unwrap();
    for order in [
        json!({ "Reserve": { "leader": leader, "silence_ms": 600_000 } }),
        json!({ "Forget": { "run_id": run, "sum": "" } }),
        json!({ "Stored": { "leader": "evil", "run_id": run } }),
        json!({ "Piece": { "run_id": run, "number": 0 } }),
        json!("Kept"),
        json!({ "Release": "evil" }),
    ] {
        attacker.publish(&subject, Some("stolen"), order.to_string().as_bytes());
    }
    attacker.publish("end", None, b"");
    let answers: Vec<CapturedMessage> = attacker.capture_until("end");
    assert!(answers.iter().all(|heard| heard.subject != "stolen"), "a stranger was answered");
    assert_eq!(kept_run_count(), 1, "a stranger had a run forgotten");

    // The agent is free, and accepts commands of its group; also for another repository.
    let led = secure.run(&SEALED);
    assert_eq!(led.code, 0, "{led:#?}");
    let collect = [
        "collect",
        "--nats",
        &secure.0.nats.url(),
        "--group",
        "t",
        "--repository",
        "other.sqlite3",
        "--json",
    ];
    let collect: Vec<&str> = [&collect[..], &SEALED].concat();
    let collected = secure.0.desk.dyno_with(("DYNO_INSECURE", "0"), &collect);
    assert_eq!(collected.code, 0, "{collected:#?}");
    let shown = secure.0.desk.dyno(&["show", "last", "--json", "--repository", "other.sqlite3"]);
    let record: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(record["id"], run);
    assert_eq!(hosts(&record)[0]["lost"], Value::Null);
    assert!(record["ops"]["all"]["count"].count() > 0);
    assert_eq!(kept_run_count(), 0);
}
