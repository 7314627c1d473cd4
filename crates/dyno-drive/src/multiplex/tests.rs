//! A thread with several sessions, whose clock advances with every reading.

use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::{SessionSetup, Target as _};
use dyno_plan::WorkloadSettings;
use dyno_prove::scripted::{Act, ScriptedTarget};
use dyno_workload::blocks::{Operator, PreparedBlockStatements};
use dyno_workload::{OperationGenerator, Pace, SessionActor, SessionThinkTime, blocks};

use super::*;
use crate::boundary_marks::REFRESH_NS;
use crate::recorder::Recorder;
use crate::testing;
use crate::worker::NO_OPERATION;

/// A clock that advances by a nanosecond with each reading.
#[derive(Default)]
struct Moving(AtomicU64);

impl Clock for Moving {
    fn now_ns(&self) -> u64 {
        self.0.fetch_add(1, Ordering::AcqRel)
    }

    fn park_until(&self, deadline_ns: u64) {
        self.0.fetch_max(deadline_ns, Ordering::AcqRel);
    }
}

/// A session whose operations take no time.
fn state(clock: &Arc<Moving>, shared: &Arc<SharedRunState>) -> Box<SessionState> {
    let (workload, spec) = (WorkloadSettings::default(), testing::spec(1_000));
    let classes = Arc::new(blocks::classes(&workload, &spec));
    let target = Arc::new(ScriptedTarget::new(Arc::new(|_, _, _| Act::Take(0)), Arc::new(|_| ())).duplex());
    let method = testing::blocks(&workload, &spec);
    let prepared =
        PreparedBlockStatements::new(target.as_ref(), &method, workload.drive, workload.commit).unwrap();
    let operator = Operator::new(&prepared, &method);
    let setup = SessionSetup {
        number: 0,
        statements: prepared.statements,
        rehearsal: None,
        commit: workload.commit,
        protocol: dyno_plan::StatementProtocol::Prepared,
        connect: dyno_plan::Connect::Session,
        blocks: Some(method),
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::clone(clock) as Arc<dyn Clock>,
    };
    let session = target.session(&setup).unwrap();
    let worker = SessionWorker {
        target,
        ack_ledger: None,
        label: String::new(),
        setup,
        sessions: 1,
        actor: SessionActor::Blocks(blocks::BlockActor::new(
            OperationGenerator::new(&workload, &spec, 0, 0),
            operator,
        )),
        pace: Pace::new(&workload, None, 0, (0, 1)),
        think: SessionThinkTime::new(&workload, 0),
        doing: NO_OPERATION,
        publishes: true,
        held_back_ns: u64::MAX,
        visibility_asked_ns: 0,
        reported_overhead: 0,
        overhead_before: 0,
        loads: false,
        ops_wanted: None,
        reconnects: false,
        rest: Default::default(),
        recorder: Box::new(Recorder::new(0, classes, false, false)),
        shared: Arc::clone(shared),
        snapshot_status: Arc::default(),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        messages: channel().0,
    };
    Box::new(SessionState::new(worker, session))
}

/// A multiplexer of one session; `paced` as with a rate.
fn multiplexer(clock: &Arc<Moving>, paced: bool) -> Multiplexer {
    let shared = Arc::new(SharedRunState::new(1, &[true]));
    let waker = Arc::new(PollWaker::new().unwrap());
    Multiplexer {
        states: vec![Some(state(clock, &shared))],
        counts: ThreadCounts::new((1, 16), None, 1_000_000_000, channel().0, channel().1),
        handed_in: false,
        messages: channel().0,
        remaining: 1,
        current_index: 0,
        due: BinaryHeap::new(),
        to_cross: VecDeque::new(),
        crossing: 0,
        phase: DrivePhase::Warmup,
        returns: channel(),
        shared,
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        poll: Poll::new(&waker).unwrap(),
        waker,
        is_paced: paced,
        leavers: channel().0,
    }
}

/// Whether the session sends an overhead request, which must match the count of such requests.
fn asks(multiplexer: &Multiplexer, other_crossings: usize) -> bool {
    let asks = multiplexer.states[0].as_ref().unwrap().is_at_boundary();
    assert_eq!(multiplexer.crossing, other_crossings + usize::from(asks));
    asks
}

#[test]
fn boundary_due_between_clock_checks_is_counted() {
    for (paced, other_crossings) in [(false, 0), (true, 0), (true, CROSSING.0)] {
        let request_flags = [0, 1, 2, 3, 4, 5, 6, 7].map(|early_ns| {
            let clock = Arc::new(Moving::default());
            let mut multiplexer = multiplexer(&clock, paced);
            multiplexer.shared.enter(DrivePhase::Opening);
            multiplexer.advance(0);
            assert!(asks(&multiplexer, 0), "it crosses the window's begin");
            multiplexer.receive_reply(0);
            assert!(!asks(&multiplexer, 0), "and does an operation behind it");
            // As if other sessions crossed the boundary meanwhile.
            multiplexer.crossing += other_crossings;
            let shown_ns =
                multiplexer.states[0].as_ref().unwrap().worker.recorder.marks[0].low.as_ref().unwrap().at_ns;
            // The time of the first publication determines at which of the later clock readings the next one
            // is due.
            clock.0.store(shown_ns + REFRESH_NS - early_ns, Ordering::Release);
            multiplexer.receive_reply(0);
            let has_asked = asks(&multiplexer, other_crossings);
            multiplexer.receive_reply(0);
            asks(&multiplexer, other_crossings);
            has_asked
        });
        let times = request_flags.iter().filter(|&&asked| asked).count();
        assert!(times < request_flags.len(), "{request_flags:?}");
        assert!(times > 0 || other_crossings > 0, "{request_flags:?}");
    }
}
