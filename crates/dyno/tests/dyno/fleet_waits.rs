//! Ctrl-C while Dyno waits for driver hosts: before a command, and between its runs.

use dyno_testbed::Nats;

use crate::common::TestEnv;
use crate::fleet_site::FleetSite;

#[test]
fn ctrl_c_while_waiting_for_agents_ends_at_once() {
    let Some(nats) = Nats::start(&[]) else { return };
    let desk = TestEnv::new();
    let url = nats.url();
    let mut agent = desk.start(&["agent", "--nats", &url, "--group", "t", "--name", "a1", "--keep", "keep"]);
    agent.wait_for_line("waits in group t");
    // No database is contacted before all hosts are available.
    let run = ["run", "--target", "postgres://nobody@127.0.0.1:1/none", "--nats", &url, "--host-group", "t"];
    let mut leader = desk.start(&[&run[..], &["--hosts", "2", "--wait-hosts", "60s"]].concat());
    leader.wait_for_line("waiting for driver hosts: 1 of 2");
    leader.signal("INT");
    let output = leader.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    assert!(output.err.contains("stopped before all driver hosts were reserved"), "{}", output.err);
    assert!(!desk.file("runs.sqlite3").exists(), "no run was begun");
    // The agent is free again: the next controller reserves it and reaches the database.
    let next = desk.dyno(&[&run[..], &["--hosts", "1", "--wait-hosts", "60s"]].concat());
    assert!(next.err.contains("1 driver hosts: a1"), "{next:#?}");
    agent.wait_for_line("reserved by");
    agent.wait_for_line("free");
    agent.signal("INT");
    assert_eq!(agent.wait().code, 0);
}

#[test]
fn ctrl_c_while_waiting_for_lost_agent_releases_other_agents() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let (mut stays, goes) = (site.agent("a1"), site.agent("a2"));
    let more = ["--set", "sweep.sessions=2,4", "--set", "run.time=10m", "--set", "workload.rate=100/s"];
    let args = site.args("sweep", "2", "4s", &[&more[..], &["--wait-hosts", "60s"]].concat());
    let mut leader = site.desk.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    leader.wait_for_line("window");
    goes.signal("KILL");
    leader.wait_for_line("waiting for driver hosts: 1 of 2");
    leader.signal("INT");
    let output = leader.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    stays.wait_for_line("free");
    stays.signal("INT");
    assert_eq!(stays.wait().code, 0);
}
