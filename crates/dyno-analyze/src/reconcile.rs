//! Reconciliation: whether the columns of an imported table can mean what they are said to mean.
//!
//! Imported figures have no counters to audit, but they have each other: logical reads must be operations times work
//! unit, megabytes must be blocks times block size, shares of CPU must add up, and operations times their time must fit
//! into the sessions. Where they do not, the unit that would make them agree is named.

use dyno_record::{AuditCheck, CheckStatus, Metric, RunRecord};

use crate::compare::ratio::median;
use crate::number::{count, figure as shown, fixed};
use crate::points::figure;

/// How far two ways to one figure may differ: rounding of what was printed, index blocks, operations at the edges.
const SLACK: f64 = 0.10;

/// Blocks beside its work unit that an operation visits in an index.
const INDEX_BLOCKS: f64 = 4.0;

/// One check; absent where its columns are not there.
type Check = fn(&[&RunRecord]) -> Option<AuditCheck>;

/// Holds the columns of `records` against each other; a check for which the columns are not there is left out.
pub fn reconcile(records: &[&RunRecord]) -> Vec<AuditCheck> {
    let checks: [Check; 5] = [work_unit, megabytes, cpu, littles_law, targets];
    checks.iter().filter_map(|check| check(records)).collect()
}

fn check(name: &str, agrees: bool, expected: String, observed: String, detail: String) -> AuditCheck {
    let status = if agrees { CheckStatus::Pass } else { CheckStatus::Warn };
    AuditCheck { check: name.to_owned(), status, expected, observed, detail }
}

/// Two measures of each record that has both.
fn pairs(records: &[&RunRecord], a: &str, b: &str) -> Vec<(f64, f64)> {
    let value =
        |record: &RunRecord, name: &str| figure(record, name).map(|figure| figure.0).filter(|v| *v > 0.0);
    records.iter().filter_map(|record| Some((value(record, a)?, value(record, b)?))).collect()
}

fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| median(&mut values))
}

/// Seconds that the runs took, where the source tells.
fn seconds(records: &[&RunRecord]) -> Option<f64> {
    let of_record = |record: &&RunRecord| {
        let measured = record.window.as_ref().map(|window| window.seconds);
        let planned = record.plan.run.time.filter(|_| record.knows("run.time"));
        measured.or_else(|| planned.map(|time| time.0.as_secs_f64()))
    };
    records.iter().find_map(of_record).filter(|seconds| *seconds > 0.0)
}

/// Logical reads ÷ operations against the work unit.
fn work_unit(records: &[&RunRecord]) -> Option<AuditCheck> {
    let known: Vec<&RunRecord> =
        records.iter().copied().filter(|record| record.knows("workload.work_unit")).collect();
    let work_unit = f64::from(known.first()?.plan.workload.work_unit);
    if known.iter().any(|record| f64::from(record.plan.workload.work_unit) != work_unit) {
        return None;
    }
    let per_op =
        median_of(pairs(&known, "logical_reads_per_s", "ops_per_s").into_iter().map(|(lr, ops)| lr / ops))?;
    let fits = |blocks: f64| {
        blocks >= work_unit * (1.0 - SLACK) && blocks <= work_unit * (1.0 + SLACK) + INDEX_BLOCKS
    };
    let (expected, observed) = (format!("{} blocks", shown(work_unit)), format!("{} blocks", shown(per_op)));
    let detail = match (fits(per_op), seconds(&known)) {
        (true, _) => {
            let detail = format!(
                "logical reads ÷ operations = {}, the work unit is {}",
                shown(per_op),
                shown(work_unit)
            );
            return Some(check("reconcile.work_unit", true, expected, observed, detail));
        }
        (false, Some(seconds)) if fits(per_op * seconds) => format!(
            "ops_per_s is not per second: it is the total of {s} s, because logical reads/s × {s} ÷ operations = {}, \
             the work unit of {}; divided by {s} it is per second (map the column to `ops`, a total)",
            fixed(per_op * seconds, 1),
            shown(work_unit),
            s = shown(seconds)
        ),
        (false, Some(seconds)) if fits(per_op / seconds) => format!(
            "logical_reads_per_s is not per second: it is the total of {s} s, because logical reads ÷ {s} ÷ operations/s = {}, \
             the work unit of {}",
            fixed(per_op / seconds, 1),
            shown(work_unit),
            s = shown(seconds)
        ),
        (false, seconds) => {
            let total = work_unit / per_op;
            let known = seconds.map_or_else(String::new, |s| format!(", and the runs took {} s", shown(s)));
            format!(
                "logical reads ÷ operations = {}, but the work unit is {}: they would agree if ops_per_s were a total of {} s{known}",
                shown(per_op),
                shown(work_unit),
                shown(total)
            )
        }
    };
    Some(check("reconcile.work_unit", false, expected, observed, detail))
}

/// Megabytes ÷ blocks against the block size.
fn megabytes(records: &[&RunRecord]) -> Option<AuditCheck> {
    const MEBI: f64 = 1_048_576.0 / 1e6;
    // A rate of a few megabytes, printed without decimals, says nothing about a block.
    let sure = pairs(records, "physical_read_mb_per_s", "physical_reads_per_s")
        .into_iter()
        .filter(|(mb, _)| *mb >= 100.0);
    let bytes = median_of(sure.map(|(mb, blocks)| mb * 1e6 / blocks))?;
    let told = records.iter().find_map(|record| {
        let planned =
            record.plan.data.block_size.filter(|_| record.knows("data.block_size")).map(|bytes| bytes.0);
        let own = record.targets.first().map(|target| target.identity.block_size).filter(|size| *size > 0);
        planned.or(own)
    });
    // Block sizes are powers of two.
    let near = 2f64.powf(bytes.log2().round());
    let block = told.map_or(near, |size| size as f64);
    let fits = |bytes: f64| (bytes / block - 1.0).abs() <= 0.02;
    let whole = count(block as u64);
    let (agrees, detail) = match (fits(bytes), fits(bytes * MEBI)) {
        (true, _) => (true, format!("megabytes ÷ blocks = {} bytes, a block of {whole}", shown(bytes))),
        (false, true) => (
            false,
            format!(
                "physical_read_mb_per_s is in MiB/s: MB ÷ blocks = {} bytes, MiB ÷ blocks = {}, a block of {whole} \
                 (map the column with unit MiB/s)",
                shown(bytes),
                shown(bytes * MEBI)
            ),
        ),
        (false, false) => {
            (false, format!("megabytes ÷ blocks = {} bytes, which is no block of {whole}", shown(bytes)))
        }
    };
    Some(check(
        "reconcile.megabytes",
        agrees,
        format!("{whole} bytes"),
        format!("{} bytes", shown(bytes)),
        detail,
    ))
}

/// Shares of CPU: busy and idle are all, user and sys are busy.
fn cpu(records: &[&RunRecord]) -> Option<AuditCheck> {
    // Shares are printed as whole numbers, so a sum of two may be off by one.
    const POINTS: f64 = 1.5;
    let value = |record: &RunRecord, name: &str| record.metrics.get(name).and_then(Metric::value);
    let mut checked = 0usize;
    let mut worst: Option<(f64, String)> = None;
    let mut hold = |sum: f64, whole: f64, words: String| {
        checked += 1;
        let off = (sum - whole).abs();
        if off > POINTS && worst.as_ref().is_none_or(|(before, _)| off > *before) {
            worst = Some((off, words));
        }
    };
    for record in records {
        let [busy, user, sys, idle] =
            ["busy", "user", "sys", "idle"].map(|part| value(record, &format!("cpu_{part}_pct")));
        if let (Some(busy), Some(idle)) = (busy, idle) {
            hold(busy + idle, 100.0, format!("busy {} % and idle {} %", shown(busy), shown(idle)));
        }
        if let (Some(busy), Some(user), Some(sys)) = (busy, user, sys) {
            let words = format!("user {} % and sys {} % of busy {} %", shown(user), shown(sys), shown(busy));
            hold(user + sys, busy, words);
        }
    }
    let detail = match &worst {
        _ if checked == 0 => return None,
        None => format!("{checked} sums of CPU shares agree within rounding"),
        Some((_, words)) => format!("shares of CPU do not add up: {words}"),
    };
    Some(check("reconcile.cpu", worst.is_none(), "100 %".into(), String::new(), detail))
}

/// Operations × their time against the sessions: more than fits into them cannot be (Little 1961).
fn littles_law(records: &[&RunRecord]) -> Option<AuditCheck> {
    let known = records.iter().filter(|record| record.knows("run.sessions_per_schema"));
    let shares = known.filter_map(|record| {
        let (rate, time_us) = (figure(record, "ops_per_s")?.0, figure(record, "service_mean_us")?.0);
        let sessions = f64::from(record.sessions());
        (sessions > 0.0 && rate > 0.0).then(|| rate * time_us / 1e6 / sessions)
    });
    let busy = median_of(shares)?;
    let agrees = busy <= 1.0 + SLACK;
    let share = format!("{} %", fixed(100.0 * busy, 1));
    let detail = match agrees {
        true => format!("operations/s × mean time fill {share} of the sessions' time"),
        false => format!(
            "operations/s × mean time are {share} of the sessions' time: a unit or a number of sessions is wrong"
        ),
    };
    Some(check("reconcile.littles_law", agrees, "at most 100 %".into(), share, detail))
}

/// Printed totals against the sums of their parts.
fn targets(records: &[&RunRecord]) -> Option<AuditCheck> {
    let parts = records.iter().filter(|record| record.one_target_of.is_some());
    let owned: Vec<RunRecord> = records
        .iter()
        .filter(|record| {
            record.one_target_of.is_some()
                || parts.clone().any(|part| part.one_target_of.as_ref() == Some(&record.id))
        })
        .map(|record| (*record).clone())
        .collect();
    let (mut checked, mut wrong) = (0usize, Vec::new());
    for setting in crate::totals::settings(owned).into_iter().filter(|setting| !setting.summed) {
        let names = setting.whole.metrics.iter().filter_map(|(name, metric)| Some((name, metric.value()?)));
        for (name, stated) in names {
            let Some(sum) = crate::totals::sum_of_metric(name, &setting.parts).value() else { continue };
            checked += 1;
            if (sum - stated).abs() > 1e-6 * stated.abs().max(1.0) {
                wrong.push(format!("{name} is {} in total, its parts are {}", shown(stated), shown(sum)));
            }
        }
    }
    if checked == 0 {
        return None;
    }
    let detail = match wrong.as_slice() {
        [] => format!("{checked} totals are the sums of their targets"),
        [first, ..] => {
            format!("{} of {checked} totals are not the sums of their targets: {first}", wrong.len())
        }
    };
    Some(check(
        "reconcile.targets",
        wrong.is_empty(),
        checked.to_string(),
        (checked - wrong.len()).to_string(),
        detail,
    ))
}
