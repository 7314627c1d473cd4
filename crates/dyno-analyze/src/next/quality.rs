//! Steps that make the figures of a run sound: a quiet host, a longer window, more samples.

use dyno_record::{SweepKind, Waits};

use super::evidence::RunEvidence;
use super::{FoundStep, NextRule, RunRule};
use crate::audit::page_cache_pct;
use crate::number::{fixed, percent, span_s};

/// A window shorter than this says little about a platform, s.
const WINDOW_MIN_S: f64 = 10.0;
/// The usual length of a window, s.
const WINDOW_S: u64 = 60;
/// Samples that make shares of wait events significant: below, they count as none.
const SAMPLES_MIN: u64 = 20;
/// Rise of throughput from the first to the last quarter of a window, %, above which the warm-up was
/// too short.
const RISE_PCT: f64 = 15.0;
/// Fewest intervals whose quarters are compared.
const INTERVALS_MIN: usize = 8;
/// Processor time that a hypervisor took, %, above which the host is shared.
const STEAL_PCT: f64 = 2.0;

const AUDIT: &str = "docs/reference/audit-checks.md";
const READING: &str = "docs/guides/reading-a-result.md";
const LIMITS: &str = "docs/concepts/analysis.md#what-limits";

pub(super) const RULES: &[RunRule] = &[
    NextRule {
        name: "foreign_load",
        evidence: "the audit check `processor` warns: other programs used the processors",
        source: AUDIT,
        find: foreign_load,
    },
    NextRule {
        name: "hypervisor",
        evidence: "a hypervisor took over 2 % of the processors' time",
        source: AUDIT,
        find: hypervisor,
    },
    NextRule {
        name: "background_sessions",
        evidence: "an audit check of background activity in the database warns (`others…`)",
        source: AUDIT,
        find: background_sessions,
    },
    NextRule {
        name: "page_cache",
        evidence: "the audit check `physical_reads` warns",
        source: AUDIT,
        find: page_cache,
    },
    NextRule {
        name: "few_samples",
        evidence: "waits were sampled fewer than 20 times, or not at all by the plan",
        source: LIMITS,
        find: few_samples,
    },
    NextRule {
        name: "short_window",
        evidence: "the window is shorter than 10 s, or a check of the window's boundaries warns",
        source: READING,
        find: short_window,
    },
    NextRule {
        name: "warm_up",
        evidence: "throughput in the last quarter of the window is 15 % higher than in the first",
        source: "docs/concepts/window.md",
        find: warm_up,
    },
    NextRule {
        name: "start_skew",
        evidence: "the audit check `gate_skew` warns, and the plan has no warm-up",
        source: AUDIT,
        find: start_skew,
    },
    NextRule {
        name: "failed_operations",
        evidence: "the audit check `errors` warns",
        source: AUDIT,
        find: failed_operations,
    },
    NextRule {
        name: "client_on_shared_host",
        evidence: "the audit check `client_cost` warns",
        source: AUDIT,
        find: client_on_shared_host,
    },
    NextRule {
        name: "not_durable",
        evidence: "settings of the server make its commits not durable",
        source: "docs/concepts/method.md",
        find: not_durable,
    },
];

/// Least share of the processors that is worth stopping other programs, %.
const OTHERS_MIN_PCT: f64 = 1.0;

fn foreign_load(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let check = run.warning("processor")?;
    let others_pct = run.metric("others_cpu_pct").or(run.limit.figure("others_of_host_pct"))?;
    // The check also warns of the hypervisor and of the client itself.
    if others_pct < OTHERS_MIN_PCT {
        return None;
    }
    let largest = check.detail.split_once("largest: ").map_or_else(String::new, |(_, names)| {
        let names = names.split(';').next().unwrap_or(names);
        format!(" (largest: {})", names.trim())
    });
    Some((
        format!(
            "stop the other programs, which used {} % of the processors{largest}, and measure again",
            percent(others_pct)
        ),
        None,
    ))
}

fn hypervisor(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let steal_pct = run.metric("cpu_steal_pct").filter(|pct| *pct > STEAL_PCT)?;
    let sentence = format!(
        "the hypervisor gave {} % of the processors' time to other machines; measure on a host of its own",
        percent(steal_pct)
    );
    Some((sentence, None))
}

fn background_sessions(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let checks = ["others_sessions", "others_server", "others", "others_test_tables"];
    let check = checks.iter().find_map(|check| run.warning(check))?;
    let sentence = format!("keep other sessions off the server and measure again ({})", check.detail);
    Some((sentence, None))
}

fn page_cache(run: &RunEvidence<'_>) -> Option<FoundStep> {
    run.warning("physical_reads")?;
    page_cache_pct(run.record)?;
    let memory_bytes = run.record.database_host().unwrap_or(run.record.host()).memory_bytes;
    let size = match memory_bytes {
        0 => String::new(),
        bytes => format!(" (over {})", crate::number::bytes(bytes.saturating_mul(2))),
    };
    let sentence =
        format!("the page cache answered reads; use direct I/O, or data of twice the host's memory{size}");
    Some((sentence, None))
}

fn few_samples(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let time_s = run.window_s()?;
    match &run.record.waits {
        Waits::Sampled { samples, .. } if *samples < SAMPLES_MIN => {
            let rate = (50.0_f64).max((5.0 * SAMPLES_MIN as f64 / time_s).ceil());
            let sentence =
                format!("waits were sampled only {samples} times; sample more often to see the limit");
            Some((sentence, Some(format!("dyno run --set observe.waits={}/s", fixed(rate.min(1_000.0), 0)))))
        }
        Waits::Absent { .. } if run.record.plan.observe.waits.is_none() && !run.is_in_process() => {
            let sentence = "waits were not sampled; sample them to see the limit".to_owned();
            Some((sentence, Some("dyno run --set observe.waits=10/s".to_owned())))
        }
        _ => None,
    }
}

fn short_window(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let seconds = run.window_s()?;
    let at_edges = run.warning("edges").or(run.warning("window_length")).is_some();
    // A window that ends by operations has the length that they need.
    let by_time = run.record.plan.run.time.is_some();
    (by_time && (seconds < WINDOW_MIN_S || at_edges)).then(|| {
        let longer_s = WINDOW_S.max((seconds * 2.0).ceil() as u64);
        let sentence = format!("the window lasted {}; a longer one has steadier figures", span_s(seconds));
        let is_of_sweep = run.record.part_of.as_ref().is_some_and(|part| part.kind == SweepKind::Sweep);
        let name = if is_of_sweep { "sweep" } else { "run" };
        (sentence, Some(format!("dyno {name} --set run.time={longer_s}s")))
    })
}

fn warm_up(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let points = &run.record.series.points;
    if points.len() < INTERVALS_MIN || run.record.asked_per_s().is_some() {
        return None;
    }
    let quarter = points.len() / 4;
    let rate = |part: &[dyno_record::SeriesPoint]| {
        let seconds: f64 = part.iter().map(|point| point.seconds).sum();
        part.iter().map(|point| point.ops as f64).sum::<f64>() / seconds
    };
    let (first, last) = (rate(&points[..quarter]), rate(&points[points.len() - quarter..]));
    let rise_pct = 100.0 * (last / first - 1.0);
    (rise_pct.is_finite() && rise_pct >= RISE_PCT).then(|| {
        let warmup_s = run.record.plan.run.warmup.0.as_secs_f64() + run.window_s().unwrap_or(0.0);
        let sentence =
            format!("throughput rose by {} % within the window; lengthen the warm-up", percent(rise_pct));
        (sentence, Some(format!("dyno run --set run.warmup={}s", fixed(warmup_s.ceil(), 0))))
    })
}

fn start_skew(run: &RunEvidence<'_>) -> Option<FoundStep> {
    run.warning("gate_skew").filter(|_| run.record.plan.run.warmup.0.is_zero())?;
    let sentence =
        "sessions did not start together; a warm-up keeps their start out of the window".to_owned();
    Some((sentence, Some("dyno run --set run.warmup=5s".to_owned())))
}

fn failed_operations(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let check = run.warning("errors")?;
    Some((format!("remove the cause of the failed operations first ({})", check.detail), None))
}

fn client_on_shared_host(run: &RunEvidence<'_>) -> Option<FoundStep> {
    run.warning("client_cost")?;
    let cost_pct = run.limit.figure("client_of_host_pct")?;
    let sentence = format!(
        "Dyno itself used {} % of the host's processors; drive the load from another host (docs/guides/fleet.md)",
        percent(cost_pct)
    );
    Some((sentence, None))
}

fn not_durable(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let settings = &run.record.targets.first()?.identity.not_durable;
    (!settings.is_empty()).then(|| {
        let sentence = format!(
            "compare only with servers whose commits are as little durable ({})",
            settings.join(", ")
        );
        (sentence, None)
    })
}
