//! Clocks over a real meeting point whose ways take a while, and not the same there and back: what is known of a clock holds, which can be
//! told because both are this process's.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Clock, MonotonicClock};
use dyno_testbed::{Nats, SlowWay};

use crate::clocks::ask_clocks;
use crate::coding::written;
use crate::limits::PROTOCOL;
use crate::member::Member;
use crate::messages::{Answer, Hello};
use crate::wire::{Access, Wire};

/// What the ways of one agent take to it and from it, ms.
const WAYS_MS: [(u64, u64); 4] = [(0, 0), (4, 4), (1, 12), (15, 2)];

fn member(name: usize) -> Arc<Member> {
    let hello = Hello {
        protocol: PROTOCOL,
        version: "test".into(),
        id: format!("a{name}"),
        name: format!("a{name}"),
        place: None,
        cpus: 1,
        busy: None,
        keeps: 0,
    };
    Member::new(hello, format!("dyno.t.agent.a{name}"))
}

fn reach(address: &str) -> Wire {
    Wire::reach(&Access { url: format!("nats://{address}"), ..Access::default() }).expect("it is there")
}

#[test]
fn a_clock_lies_within_its_bound_over_slow_and_uneven_ways() {
    let Some(nats) = Nats::start(&[]) else { return };
    let upstream: SocketAddr = nats.address().parse().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    let leader = reach(&nats.address());
    for (at, (to_ms, from_ms)) in WAYS_MS.into_iter().enumerate() {
        let (to, from) = (Duration::from_millis(to_ms), Duration::from_millis(from_ms));
        // What the agent is told comes back from the server.
        let way = SlowWay::start(Ipv4Addr::LOCALHOST.into(), upstream, from, to);
        let agent = reach(&way.address().to_string());
        let theirs: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
        let member = member(at);
        let its_clock = Arc::clone(&theirs);
        let _hears = agent.hear_with(&member.subject, move |came, answerer| {
            let heard_ns = its_clock.now_ns();
            let answer = Answer::Clock { heard_ns, said_ns: its_clock.now_ns() };
            answerer.answer(&came.reply.expect("it is asked"), written(&answer));
        });
        ask_clocks(&leader, &clock, "l", std::iter::once(member.as_ref()), 24);
        let before_ns = clock.now_ns();
        let there_ns = theirs.now_ns();
        let after_ns = clock.now_ns();
        let known = member.clock().ahead(before_ns).unwrap();
        let truth_ns = (there_ns as f64 - after_ns as f64, there_ns as f64 - before_ns as f64);
        let fit = member.clock().fit(before_ns).unwrap();
        println!(
            "ways of {to_ms} and {from_ms} ms: known to {:.0} µs, wrong by {:.0} µs, there and back {:.0} µs",
            fit.bound_us,
            (known.ns - truth_ns.1) / 1e3,
            fit.round_trip_us
        );
        // Sums of large numbers as floating point: some nanoseconds are nobody's.
        let slack_ns = known.bound_ns + 100.0;
        assert!(
            known.ns >= truth_ns.0 - slack_ns && known.ns <= truth_ns.1 + slack_ns,
            "{known:?} {truth_ns:?}"
        );
        assert!(fit.round_trip_us >= (to_ms + from_ms) as f64 * 1e3, "the ways are that long: {fit:?}");
    }
}
