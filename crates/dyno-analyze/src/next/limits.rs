//! Steps that follow from the limit of a run: the experiment that shows its share, or the load that
//! would exhaust the platform.

use super::curve::sweep_of;
use super::evidence::RunEvidence;
use super::{FoundStep, NextRule, RunRule};
use crate::limited::{Component, Confidence};
use crate::number::{figure, fixed, percent, time_us};

const LIMITS: &str = "docs/concepts/analysis.md#what-limits";
const SWEEPS: &str = "docs/guides/sweeps.md";
const METHOD: &str = "docs/concepts/method.md";

/// Settings of servers whose sessions may commit without waiting for the log.
const COMMIT_SETTINGS: [&str; 2] = ["synchronous_commit", "commit_wait"];
/// Latency limit of a suggested search, as a multiple of the measured p99.
const P99_FACTOR: f64 = 2.0;
/// Fewest writes of data per second that can delay the log on the same device.
const DATA_WRITES_MIN: f64 = 100.0;

pub(super) const RULES: &[RunRule] = &[
    NextRule {
        name: "more_than_the_rate",
        evidence: "the requested rate limits, and the p99 of response times is known",
        source: SWEEPS,
        find: more_than_the_rate,
    },
    NextRule {
        name: "more_sessions",
        evidence: "too few sessions or think time limits",
        source: LIMITS,
        find: more_sessions,
    },
    NextRule { name: "quota", evidence: "a control group's CPU quota limits", source: LIMITS, find: quota },
    NextRule {
        name: "more_client_threads",
        evidence: "the client limits, and the plan gives it fewer threads than it may use processors",
        source: "docs/reference/plan.md",
        find: more_client_threads,
    },
    NextRule {
        name: "server_drive",
        evidence: "the client or round trips limit the block workload, driven by the client of a server",
        source: METHOD,
        find: server_drive,
    },
    NextRule {
        name: "processor_profile",
        evidence: "the CPU certainly limits, and no profile was taken",
        source: "docs/guides/profile.md",
        find: processor_profile,
    },
    NextRule {
        name: "commits_without_wait",
        evidence: "commits limit the block workload, and the server has `synchronous_commit` or `commit_wait`, not yet off",
        source: METHOD,
        find: commits_without_wait,
    },
    NextRule {
        name: "shared_log_device",
        evidence: "commits limit, and redo log and data are on one device that also wrote data",
        source: METHOD,
        find: shared_log_device,
    },
    NextRule {
        name: "raw_device",
        evidence: "the device or commits limit, and the time of its requests was measured",
        source: "docs/guides/calibrate.md",
        find: raw_device,
    },
    NextRule {
        name: "held_back_device",
        evidence: "reads take much longer in the database than in the device, which is not busy",
        source: LIMITS,
        find: held_back_device,
    },
    NextRule {
        name: "hot_rows",
        evidence: "locks or latches limit the block workload, and its plan has a hot spot, a hot schema or skewed keys",
        source: METHOD,
        find: hot_rows,
    },
    NextRule {
        name: "few_rows",
        evidence: "row locks limit a workload of own SQL",
        source: "docs/guides/custom-sql.md",
        find: few_rows,
    },
    NextRule {
        name: "kept_connections",
        evidence: "connections limit, and the plan opens one for each transaction",
        source: "docs/guides/custom-sql.md",
        find: kept_connections,
    },
];

fn more_than_the_rate(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let rate = run.limit.asked_per_s.filter(|_| run.is_limited_by(Component::Rate))?;
    let p99_us = run.record.leading_ops()?.response_us.p99?;
    let limit_ms = (P99_FACTOR * p99_us / 1e3).ceil().max(1.0);
    let sentence = format!(
        "{}/s were requested and reached; search for the highest rate within {} (p99 now {})",
        figure(rate),
        time_us(limit_ms * 1e3),
        time_us(p99_us)
    );
    let from = rate.ceil().max(1.0);
    Some((
        sentence,
        Some(format!(
            "dyno search --over rate --limit 'p99 <= {}ms' --from {}",
            fixed(limit_ms, 0),
            fixed(from, 0)
        )),
    ))
}

fn more_sessions(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let is_due = run.is_limited_by(Component::Sessions) || run.is_limited_by(Component::ThinkTime);
    let sessions = Some(run.sessions()).filter(|sessions| *sessions > 0 && is_due)?;
    let loads = [sessions, sessions * 2, sessions * 4];
    let sentence = format!("the platform has room; sweep sessions {} and {} as well", loads[1], loads[2]);
    Some((sentence, Some(sweep_of(&loads))))
}

fn quota(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let of_database = run.limit.figure("database_quota_used_pct");
    let used_pct = of_database.or(run.limit.figure("client_quota_used_pct"))?;
    let is_quota = run.is_limited_by(Component::CpuQuota)
        || run.is_limited_by(Component::Client) && run.limit.what.contains("quota");
    is_quota.then(|| {
        let owner = if of_database.is_some() { "the database" } else { "this program" };
        let sentence =
            format!("raise the CPU quota of {owner}, of which {} % is used, and compare", percent(used_pct));
        (sentence, None)
    })
}

fn more_client_threads(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let threads = run.record.plan.run.threads.map(u64::from)?;
    let allowed = u64::from(run.record.driver().cpus_allowed);
    (run.is_limited_by(Component::Client) && threads < allowed && u64::from(run.sessions()) > threads).then(
        || {
            let sentence =
                format!("{threads} of {allowed} processors may drive the load; give it more threads");
            (sentence, Some(format!("dyno ab --a run.threads={threads} --b run.threads={allowed}")))
        },
    )
}

fn server_drive(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let is_due = run.is_limited_by(Component::Client) || run.is_limited_by(Component::RoundTrips);
    let is_driven = run.record.plan.workload.drive == dyno_plan::DriveMode::Client && !run.is_in_process();
    (is_due && is_driven && run.is_block_workload() && run.record.asked_per_s().is_none()).then(|| {
        let sentence = "compare with the loop inside the database, which needs no round trips".to_owned();
        (sentence, Some("dyno ab --a workload.drive=client --b workload.drive=server".to_owned()))
    })
}

fn processor_profile(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let is_sure = run.is_limited_by(Component::Cpu) && run.limit.confidence == Confidence::Sure;
    (is_sure && run.record.profile.is_none()).then(|| {
        let sentence = "a profile shows which functions use the processors".to_owned();
        (sentence, Some("dyno run --set observe.perf=true".to_owned()))
    })
}

fn commits_without_wait(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let settings = COMMIT_SETTINGS.iter().find_map(|name| Some((*name, run.setting(name)?)));
    let (name, value) = settings.filter(|(_, value)| !matches!(*value, "off" | "NOWAIT"))?;
    let waits = run.record.plan.workload.commit == dyno_plan::Commit::Wait;
    (run.is_limited_by(Component::Commits) && waits && run.is_block_workload()).then(|| {
        let sentence = format!(
            "measure what the wait for the log costs: commits without it are not durable (`{name}` = {value} now)"
        );
        (sentence, Some("dyno ab --a workload.commit=wait --b workload.commit=nowait".to_owned()))
    })
}

fn shared_log_device(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let facts = &run.record.database_host()?.facts;
    let (data, redo) = (facts.get("place.data.device")?, facts.get("place.redo.device")?);
    let writes = run.metric("physical_writes_per_s").filter(|writes| *writes >= DATA_WRITES_MIN)?;
    (run.is_limited_by(Component::Commits) && data == redo).then(|| {
        let sentence = format!(
            "log and data are both on {data}, which also takes {} data writes/s; put the log on a device of its own and compare",
            figure(writes)
        );
        (sentence, None)
    })
}

fn raw_device(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let latency = match run.limit.by {
        Component::Commits => ("a log sync", run.metric("redo_sync_latency_us")?),
        Component::Device => ("a read", run.metric("device_read_latency_us")?),
        _ => return None,
    };
    let (what, us) = latency;
    let sentence = format!("{what} took {}; measure what the device does without a database", time_us(us));
    Some((sentence, Some("dyno calibrate".to_owned())))
}

fn held_back_device(run: &RunEvidence<'_>) -> Option<FoundStep> {
    (run.is_limited_by(Component::Device) && run.limit.sentence.contains("before they reach it")).then(|| {
        let sentence =
            "look for a limit of a control group (`io.max`) or a queue in front of the device".to_owned();
        (sentence, None)
    })
}

fn hot_rows(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let workload = &run.record.plan.workload;
    let hot = [
        (workload.hot_spot_every > 0, "workload.hot_spot_every", workload.hot_spot_every.to_string(), "0"),
        (
            workload.hot_schema_every > 0,
            "workload.hot_schema_every",
            workload.hot_schema_every.to_string(),
            "0",
        ),
        (
            workload.keys != dyno_plan::KeyDistribution::Uniform,
            "workload.keys",
            format!("{:?}", workload.keys).to_lowercase(),
            "uniform",
        ),
    ];
    let is_due = run.is_limited_by(Component::Locks) || run.is_limited_by(Component::Latches);
    let (_, key, value, without) = hot.into_iter().find(|(is_hot, ..)| *is_hot && is_due)?;
    run.is_block_workload().then(|| {
        let sentence = format!("sessions meet at `{key}` = {value}; compare with keys that are spread");
        (sentence, Some(format!("dyno ab --a {key}={value} --b {key}={without}")))
    })
}

fn few_rows(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let scale = run.record.workload.as_ref()?.scale;
    let is_due = run.is_limited_by(Component::Locks) && run.limit.what.starts_with("row locks");
    is_due.then(|| {
        let sentence = format!(
            "sessions wait for rows that others change; compare scale {scale} with {} (`workload.scale`), \
             or spread the changes over more rows",
            scale.saturating_mul(10)
        );
        let command = format!("dyno sweep --set sweep.workload.scale={scale},{}", scale.saturating_mul(10));
        (sentence, Some(command))
    })
}

fn kept_connections(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let per_transaction = run.record.plan.workload.connect == dyno_plan::Connect::Transaction;
    (run.is_limited_by(Component::Connections) && per_transaction).then(|| {
        let sentence = "compare with sessions that keep their connection, as behind a pool".to_owned();
        (sentence, Some("dyno ab --a workload.connect=transaction --b workload.connect=session".to_owned()))
    })
}
