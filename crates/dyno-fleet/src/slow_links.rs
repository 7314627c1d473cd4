//! Tests clock mapping over a real NATS server with slow, asymmetric connections. Both clocks belong to this
//! process, so the true offset is known.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Clock, MonotonicClock};
use dyno_testbed::{DelayProxy, Nats};

use crate::clocks::ask_clocks;
use crate::coding::encode;
use crate::limits::PROTOCOL;
use crate::member::FleetMember;
use crate::messages::{AgentHello, AgentReply};
use crate::wire::{Access, Wire};

/// Delay of messages to and from one agent, ms.
const WAYS_MS: [(u64, u64); 4] = [(0, 0), (4, 4), (1, 12), (15, 2)];

fn member(name: usize) -> Arc<FleetMember> {
    let hello = AgentHello {
        protocol: PROTOCOL,
        version: "test".into(),
        id: format!("a{name}"),
        name: format!("a{name}"),
        place: None,
        cpus: 1,
        busy: None,
        keeps: 0,
    };
    FleetMember::new(hello, format!("dyno.t.agent.a{name}"))
}

fn reach(address: &str) -> Wire {
    Wire::reach(&Access { url: format!("nats://{address}"), ..Access::default() }).expect("it is there")
}

#[test]
fn clock_offset_stays_within_bound_on_slow_uneven_links() {
    let Some(nats) = Nats::start(&[]) else { return };
    let upstream: SocketAddr = nats.address().parse().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    let leader = reach(&nats.address());
    for (at, (to_ms, from_ms)) in WAYS_MS.into_iter().enumerate() {
        let (to, from) = (Duration::from_millis(to_ms), Duration::from_millis(from_ms));
        // Requests to the agent travel from the server, so the directions are swapped.
        let way = DelayProxy::start(Ipv4Addr::LOCALHOST.into(), upstream, from, to);
        let agent = reach(&way.address().to_string());
        let theirs: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
        let member = member(at);
        let its_clock = Arc::clone(&theirs);
        let _hears = agent.subscribe(&member.subject, move |message, answerer| {
            let heard_ns = its_clock.now_ns();
            let answer = AgentReply::Clock { heard_ns, said_ns: its_clock.now_ns() };
            answerer.answer(&message.reply.expect("it is asked"), encode(&answer));
        });
        ask_clocks(&leader, &clock, "l", std::iter::once(member.as_ref()), 24);
        let before_ns = clock.now_ns();
        let there_ns = theirs.now_ns();
        let after_ns = clock.now_ns();
        let estimate = member.clock().ahead(before_ns).unwrap();
        let truth_ns = (there_ns as f64 - after_ns as f64, there_ns as f64 - before_ns as f64);
        let fit = member.clock().fit(before_ns).unwrap();
        println!(
            "ways of {to_ms} and {from_ms} ms: known to {:.0} µs, wrong by {:.0} µs, there and back {:.0} µs",
            fit.bound_us,
            (estimate.ns - truth_ns.1) / 1e3,
            fit.round_trip_us
        );
        // Floating-point sums of large numbers may be off by some nanoseconds.
        let slack_ns = estimate.bound_ns + 100.0;
        assert!(estimate.ns >= truth_ns.0 - slack_ns, "{estimate:?} {truth_ns:?}");
        assert!(estimate.ns <= truth_ns.1 + slack_ns, "{estimate:?} {truth_ns:?}");
        assert!(fit.round_trip_us >= (to_ms + from_ms) as f64 * 1e3, "the ways are that long: {fit:?}");
    }
}
