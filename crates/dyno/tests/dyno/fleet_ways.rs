//! Driver hosts with their own addresses and network delays: each agent runs in a network namespace behind
//! its own delayed connection to the NATS server.

use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use dyno_testbed::{DelayProxy, Nats, Postgres, skip_unsupported};

use crate::common::json::ExpectJson;
use crate::common::{Running, TestEnv, assert_passes, find_check, wait_until};
use crate::fleet_site::{DATA, hosts};

/// Delays of each agent to the NATS server and back, ms: within a rack, a site, a continent, and some
/// asymmetric ones.
const WAYS_MS: [(u64, u64); 8] = [(0, 0), (0, 0), (1, 1), (2, 2), (5, 5), (60, 60), (2, 6), (9, 3)];

/// Script that runs in the namespace before the agent: it configures the address as soon as the link exists.
const INSIDE: &str = "until ip link show p0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up && ip addr add $2/30 dev p0 && ip link set p0 up && ip route add default via $1 && shift 2 && exec \"$@\"";

fn ip(args: &[&str]) -> bool {
    Command::new("ip").args(args).output().is_ok_and(|output| output.status.success())
}

/// Addresses of a link, used by nobody else on this machine: the host's end, and the namespace's.
fn addresses(number: u8) -> (Ipv4Addr, Ipv4Addr) {
    let [.., third, fourth] = std::process::id().to_be_bytes();
    let address = |end: u8| Ipv4Addr::new(10, 200 + third % 50, fourth, number * 4 + end);
    (address(1), address(2))
}

fn network_namespace(process: &str) -> Option<std::path::PathBuf> {
    std::fs::read_link(format!("/proc/{process}/ns/net")).ok()
}

/// Starts the agent in a namespace that ends with it, and creates its link.
fn start_agent_in_namespace(desk: &TestEnv, number: u8, args: &[&str]) -> Running {
    let (ours, theirs) = addresses(number);
    let dyno = desk.command(args);
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", INSIDE, "sh", &ours.to_string(), &theirs.to_string()]);
    command.arg(dyno.get_program()).args(dyno.get_args()).current_dir(desk.path()).env_clear();
    command.envs(dyno.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut agent = Running::spawn(command);
    let process = agent.pid().to_string();
    wait_until("a namespace", || {
        network_namespace(&process).is_some_and(|net| Some(net) != network_namespace("self"))
    });
    let link = link_name(number);
    assert!(ip(&["link", "add", &link, "type", "veth", "peer", "name", "p0", "netns", &process]));
    assert!(ip(&["addr", "add", &format!("{ours}/30"), "dev", &link]));
    assert!(ip(&["link", "set", &link, "up"]));
    agent.wait_for_line("waits in group t");
    agent
}

fn link_name(number: u8) -> String {
    format!("dy{}n{number}", std::process::id())
}

/// Whether this process may create namespaces and links; reports a skip if not.
fn can_create_namespaces() -> bool {
    let probe = format!("dy{}x", std::process::id());
    let can =
        Command::new("unshare").args(["-n", "true"]).output().is_ok_and(|output| output.status.success())
            && ip(&["link", "add", &probe, "type", "veth", "peer", "name", &format!("{probe}y")])
            && ip(&["link", "del", &probe]);
    if !can {
        skip_unsupported(
            "the test of hosts in namespaces of the network",
            "only root may make those, and links",
        );
    }
    can
}

#[test]
fn run_of_eight_agents_over_slow_links_counts_exactly() {
    let Some(version) = Postgres::available().pop() else { return };
    let Some(nats) = Nats::start(&[]) else { return };
    if !can_create_namespaces() {
        return;
    }
    let server = Postgres::start(&version, &[("listen_addresses", "*"), ("fsync", "off")]);
    server.set_hba("local all all trust\nhost all all 127.0.0.1/32 trust\nhost all all 10.0.0.0/8 trust\n");
    let desk = TestEnv::new();
    let upstream = nats.address().parse().unwrap();
    let mut agents = Vec::new();
    let mut ways = Vec::new();
    for (number, (to_ms, from_ms)) in (0u8..).zip(WAYS_MS) {
        let (to, from) = (Duration::from_millis(to_ms), Duration::from_millis(from_ms));
        let way = DelayProxy::start(Ipv4Addr::UNSPECIFIED.into(), upstream, from, to);
        let nats = format!("nats://{}:{}", addresses(number).0, way.address().port());
        let (name, keep) = (format!("a{number}"), format!("keep-{number}"));
        let args = ["agent", "--nats", &nats, "--group", "t", "--name", &name, "--keep", &keep, "--verbose"];
        agents.push(start_agent_in_namespace(&desk, number, &args));
        ways.push(way);
    }
    // An address of this machine that every namespace can reach.
    let url = server.url().replace("127.0.0.1", &addresses(0).0.to_string());
    let load = desk.dyno(&[&["load", "--target", &url][..], &DATA].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    let nats = nats.url();
    let run =
        ["run", "--target", &url, "--hosts", "8", "--nats", &nats, "--host-group", "t", "--heartbeat", "60s"];
    let how = [
        "run.sessions_per_schema=16",
        "run.ops_per_session=40",
        "run.warmup=0s",
        // Eight processes that fill the processors suspend each other, and such a run is no result.
        "workload.think_every=1",
        "workload.think_min=20ms",
        "workload.think_max=60ms",
        "workload.update_pct=30",
        "workload.work_unit=2",
    ];
    let how = how.map(|set| ["--set", set]).concat();
    let (code, record) = desk.json(&[&run[..], &how, &DATA].concat());
    assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
    for name in ["sessions", "commits_whole", "rows_updated_whole", "update_values"] {
        assert_passes(&record, name);
    }
    let together = find_check(&record, "hosts");
    assert!(together["status"] != "fail", "{together:#}");
    assert!(together["observed"] == "8 hosts", "{together:#}");
    let skew = find_check(&record, "gate_skew");
    assert!(skew["detail"].text().contains("of each other on 8 hosts, known to"), "{skew:#}");
    println!("{}", skew["detail"]);
    for (host, (to_ms, from_ms)) in hosts(&record).iter().zip(WAYS_MS) {
        let clock = &host["clock"];
        let late_us = host["late_us"].number();
        println!("ways of {to_ms} and {from_ms} ms: {clock}, started {}, late {late_us}", host["started_us"]);
        // Clocks are compared before the start time is chosen. Announced only 0.6 s ahead as here, it would
        // arrive 0.8 s too late.
        assert!(late_us < 500_000.0, "{}", record["fleet"]);
        assert!(clock["round_trip_us"].number() >= (to_ms + from_ms) as f64 * 1e3, "{clock}");
        assert!(clock["bound_us"].number() > 0.0, "{clock}");
        assert!(clock["ahead_us"].is_number(), "{clock}");
    }
}
