//! Determines what one transaction of a custom workload does to the database: as declared, and as measured
//! before the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_drive::{CostProfiler, CostProfilerHandle};
use dyno_engine::bounded_query::PendingAnswer;
use dyno_engine::{Cancel, MonotonicClock, TargetError, TargetErrorKind};
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Expected, Learned, Transactions};
use dyno_workload::custom::CustomWorkload;

use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, Warning};
use crate::targets::{ReachedTarget, ReachedTargets};

/// Approximate time for measuring, and the maximum share of the warm-up.
const TIME_MAX: Duration = Duration::from_secs(2);
const SHARE_OF_WARMUP: u32 = 2;
/// How long to wait for the next answer of the server, because another session may hold a lock.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most time for the whole measurement on a server that answers slowly.
const WHOLE_MAX: Duration = Duration::from_secs(60);
/// Longest transaction that is measured; repeating a longer one would exceed the time limit.
const LONGEST: Duration = Duration::from_secs(3);
/// The same limit if counters are read after every request, which needs more repeats.
const LONGEST_SINGLY: Duration = Duration::from_secs(1);
/// The same limit for a workload with DDL statements. Only a measurement shows how often their parallel
/// workers commit.
const LONGEST_DEFINITION: Duration = Duration::from_secs(30);
/// How long DDL statements may take.
const DEFINITION_PATIENCE: Duration = Duration::from_secs(300);
/// How long the measurement may take to end after it was cancelled.
const END_MAX: Duration = Duration::from_secs(5);

/// Returns what each class of each workload does: the declared values, and those measured now on a single
/// session. Nothing is measured without a warm-up, because its time is used for this. Nothing is measured
/// either if the counters cannot be separated from those of other sessions. With several targets of the same
/// product and version, only the first is measured.
pub(crate) fn learn_expectations(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    specs: &[DataSpec],
    workloads: &[Arc<CustomWorkload>],
    plan: &Plan,
) -> Vec<Vec<Expected>> {
    (0..workloads.len())
        .map(|place| learn_workload_expectations(ctx, targets, specs, (workloads, place), plan))
        .collect()
}

fn learn_workload_expectations(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    specs: &[DataSpec],
    (workloads, place): (&[Arc<CustomWorkload>], usize),
    plan: &Plan,
) -> Vec<Expected> {
    let mut all: Vec<Expected> = workloads[place].expectations().collect();
    for (expected, learned) in all.iter_mut().zip(learn_costs(ctx, targets, specs, (workloads, place), plan))
    {
        expected.learned = learned;
    }
    all.retain(|expected| expected.learned.is_some() || !expected.said.is_empty());
    all
}

fn learn_costs(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    specs: &[DataSpec],
    (workloads, place): (&[Arc<CustomWorkload>], usize),
    plan: &Plan,
) -> Vec<Option<Learned>> {
    let custom_workload = &workloads[place];
    let ([reached, others @ ..], [spec, ..], false) = (&targets.all[..], specs, plan.run.warmup.0.is_zero())
    else {
        return Vec::new();
    };
    let not = |what: &str, why: String| {
        ctx.emit(CampaignEvent::Warning(Warning::NotLearned(what.to_owned(), why)));
    };
    let product = |one: &ReachedTarget| format!("{} {}", one.identity.product, one.identity.version);
    if let Some(other) = others.iter().find(|other| product(other) != product(reached)) {
        let (one, other) = (product(reached), product(other));
        not(
            custom_workload.name(),
            format!("a transaction can have other costs on {one} than on {other}, and both are targets"),
        );
        return Vec::new();
    }
    let counting = &reached.identity.counting;
    if counting.unseen_s > 0.0 && !counting.at_edges {
        return Vec::new();
    }
    let defines = custom_workload.facts().defines;
    ctx.emit(CampaignEvent::Learning);
    let handle = CostProfilerHandle::default();
    let profiler = CostProfiler {
        target: Arc::clone(&reached.target),
        workload: Arc::clone(custom_workload),
        seed: plan.workload.seed(),
        session: plan.sessions() + place as u32,
        commit: plan.workload.commit,
        protocol: plan.workload.protocol,
        connect: plan.workload.connect,
        clock: Arc::new(MonotonicClock::default()),
        time: TIME_MAX.min(plan.run.warmup.0 / SHARE_OF_WARMUP) / workloads.len() as u32,
        singly: counting.transactions == Transactions::Statements,
        longest: match (defines, counting.transactions == Transactions::Statements) {
            (true, _) => LONGEST_DEFINITION,
            (false, true) => LONGEST_SINGLY,
            (false, false) => LONGEST,
        },
        handle: handle.clone(),
        spec: spec.clone(),
    };
    // An interrupted DDL sequence may leave an index created and not dropped, and the run would fail on it.
    let patience = if defines { DEFINITION_PATIENCE } else { PATIENCE };
    match learn_within(ctx, profiler, &handle, patience) {
        Ok(learned) => {
            // A class that never runs needs no expectation.
            let accept_learned =
                |((expected, weight), one): ((Expected, u64), Result<Learned, String>)| match one {
                    Err(_) if weight == 0 => None,
                    one => one.map_err(|why| not(&expected.class, why)).ok(),
                };
            custom_workload
                .expectations()
                .zip(custom_workload.weights())
                .zip(learned)
                .map(accept_learned)
                .collect()
        }
        Err(error) => {
            not(custom_workload.name(), error.to_string());
            Vec::new()
        }
    }
}

/// The measured effect of each class, or why it could not be measured.
type LearnedCosts = Vec<Result<Learned, String>>;

/// Measures as long as the server answers at least once in each span of `patience`, and makes sure that
/// nothing continues afterwards, because the run would count it.
fn learn_within(
    ctx: &CampaignContext<'_>,
    profiler: CostProfiler,
    handle: &CostProfilerHandle,
    patience: Duration,
) -> Result<LearnedCosts, TargetError> {
    let task = PendingAnswer::start(move || profiler.learn())
        .map_err(|error| TargetError::database(format!("no thread could be started: {error}")))?;
    let (start, mut answered) = (Instant::now(), 0);
    let error = loop {
        if let Some(learned) = task.wait(patience, &ctx.cancel) {
            return learned;
        }
        let before = std::mem::replace(&mut answered, handle.answered());
        if ctx.cancel.is_cancelled() {
            break TargetError::new(TargetErrorKind::Cancelled, "stopped");
        }
        let why = if answered == before {
            format!("no answer within {} s: another session may hold a lock", patience.as_secs())
        } else if start.elapsed() >= WHOLE_MAX {
            format!("it did not finish within {} s", WHOLE_MAX.as_secs())
        } else {
            continue;
        };
        break TargetError::new(TargetErrorKind::Unreachable, why);
    };
    handle.cancel();
    task.wait(END_MAX, &Cancel::default());
    Err(error)
}
