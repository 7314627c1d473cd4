//! Ctrl-C while driver hosts are waited for: before a command, and between its runs.

use dyno_testbed::Nats;

use crate::common::Desk;
use crate::fleet_site::Site;

#[test]
fn ctrl_c_while_hosts_are_waited_for_ends_at_once_and_leaves_nothing() {
    let Some(nats) = Nats::start(&[]) else { return };
    let desk = Desk::new();
    let url = nats.url();
    let mut agent = desk.start(&["agent", "--nats", &url, "--group", "t", "--name", "a1", "--keep", "keep"]);
    agent.until("waits in group t");
    // No database is reached before all hosts are there.
    let run = ["run", "--target", "postgres://nobody@127.0.0.1:1/none", "--nats", &url, "--host-group", "t"];
    let mut leader = desk.start(&[&run[..], &["--hosts", "2", "--wait-hosts", "60s"]].concat());
    leader.until("waiting for driver hosts: 1 of 2");
    leader.signal("INT");
    let said = leader.end();
    assert_eq!(said.code, 130, "{said:#?}");
    assert!(said.err.contains("stopped before all driver hosts were there"), "{}", said.err);
    assert!(!desk.file("runs.sqlite3").exists(), "no run was begun");
    // Nobody has it: the next leader gets it, and comes as far as the database.
    let next = desk.dyno(&[&run[..], &["--hosts", "1", "--wait-hosts", "60s"]].concat());
    assert!(next.err.contains("1 driver hosts: a1"), "{next:#?}");
    agent.until("reserved by");
    agent.until("free");
    agent.signal("INT");
    assert_eq!(agent.end().code, 0);
}

#[test]
fn ctrl_c_while_a_lost_host_is_waited_for_between_runs_releases_the_others() {
    let Some(site) = Site::new(Nats::start(&[])) else { return };
    let (mut stays, goes) = (site.agent("a1"), site.agent("a2"));
    let more = ["--set", "sweep.sessions=2,4", "--set", "run.time=10m", "--set", "workload.rate=100/s"];
    let args = site.args("sweep", "2", "4s", &[&more[..], &["--wait-hosts", "60s"]].concat());
    let mut leader = site.desk.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    leader.until("window");
    goes.signal("KILL");
    leader.until("waiting for driver hosts: 1 of 2");
    leader.signal("INT");
    let said = leader.end();
    assert_eq!(said.code, 130, "{said:#?}");
    stays.until("free");
    stays.signal("INT");
    assert_eq!(stays.end().code, 0);
}
