//! Reconciliation: checks that the columns of an imported table can have the meaning they are
//! declared with.
//!
//! Imported figures have no counters to audit, but they must agree with each other. Logical reads
//! must be operations times work unit, and megabytes must be blocks times block size. Shares of CPU
//! must add up, and operations times their time must fit into the sessions. Where they disagree,
//! the check names the unit with which they would agree.

use dyno_record::{AuditCheck, CheckStatus, Metric, RunRecord};

use crate::compare::ratio::median;
use crate::number::{count, figure as shown, fixed};
use crate::points::figure;

/// Allowed difference between two ways to compute a figure: rounding, index blocks, operations at
/// the window boundaries.
const SLACK: f64 = 0.10;

/// Index blocks that an operation visits beside its work unit.
const INDEX_BLOCKS: f64 = 4.0;

/// Compares the lines of a table. Lines are added one by one, and only the figures of the checks
/// are kept. So a long table needs neither the time nor the memory of all its records together.
#[derive(Debug, Default)]
pub struct Reconciler {
    work_unit: WorkUnit,
    megabytes: Megabytes,
    cpu: Cpu,
    littles_law: LittlesLaw,
    targets: Targets,
}

impl Reconciler {
    /// Adds the records of one line: its total, and its parts.
    pub fn add(&mut self, line: &[RunRecord]) {
        for record in line {
            self.work_unit.add(record);
            self.megabytes.add(record);
            self.cpu.add(record);
            self.littles_law.add(record);
        }
        self.targets.add(line);
    }

    /// The checks of the columns; a check without its columns is left out.
    pub fn checks(self) -> Vec<AuditCheck> {
        let Self { work_unit, megabytes, cpu, littles_law, targets } = self;
        [work_unit.check(), megabytes.check(), cpu.check(), littles_law.check(), targets.check()]
            .into_iter()
            .flatten()
            .collect()
    }
}

fn check(name: &str, agrees: bool, expected: String, observed: String, detail: String) -> AuditCheck {
    let status = if agrees { CheckStatus::Pass } else { CheckStatus::Warn };
    AuditCheck { check: name.to_owned(), status, expected, observed, detail }
}

/// Two measures of a record that has both.
fn pair(record: &RunRecord, a: &str, b: &str) -> Option<(f64, f64)> {
    let value = |name: &str| figure(record, name).map(|figure| figure.0).filter(|v| *v > 0.0);
    Some((value(a)?, value(b)?))
}

fn median_of(mut values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| median(&mut values))
}

/// Length of a run in seconds, where the source states it.
fn seconds(record: &RunRecord) -> Option<f64> {
    let measured = record.window.as_ref().map(|window| window.seconds);
    let planned = record.plan.run.time.filter(|_| record.knows("run.time"));
    measured.or_else(|| planned.map(|time| time.0.as_secs_f64()))
}

/// Compares logical reads ÷ operations with the work unit.
#[derive(Debug, Default)]
struct WorkUnit {
    /// The work unit of the lines that state one.
    declared: Option<f64>,
    /// Whether lines state different work units.
    several: bool,
    /// Length of the first run for which it is known.
    seconds: Option<f64>,
    per_op: Vec<f64>,
}

impl WorkUnit {
    fn add(&mut self, record: &RunRecord) {
        if !record.knows("workload.work_unit") {
            return;
        }
        let record_work_unit = f64::from(record.plan.workload.work_unit);
        self.several |= *self.declared.get_or_insert(record_work_unit) != record_work_unit;
        self.seconds = self.seconds.or_else(|| seconds(record));
        self.per_op.extend(pair(record, "logical_reads_per_s", "ops_per_s").map(|(reads, ops)| reads / ops));
    }

    fn check(self) -> Option<AuditCheck> {
        let work_unit = self.declared.filter(|_| !self.several)?;
        let per_op = median_of(self.per_op)?;
        let seconds = self.seconds.filter(|seconds| *seconds > 0.0);
        let fits = |blocks: f64| {
            blocks >= work_unit * (1.0 - SLACK) && blocks <= work_unit * (1.0 + SLACK) + INDEX_BLOCKS
        };
        let (expected, observed) =
            (format!("{} blocks", shown(work_unit)), format!("{} blocks", shown(per_op)));
        let detail = match (fits(per_op), seconds) {
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
                let duration_note =
                    seconds.map_or_else(String::new, |s| format!(", and the runs took {} s", shown(s)));
                format!(
                    "logical reads ÷ operations = {}, but the work unit is {}: they would agree if ops_per_s were a total of {} s{duration_note}",
                    shown(per_op),
                    shown(work_unit),
                    shown(total)
                )
            }
        };
        Some(check("reconcile.work_unit", false, expected, observed, detail))
    }
}

/// Compares megabytes ÷ blocks with the block size.
#[derive(Debug, Default)]
struct Megabytes {
    /// The block size of the first line that states one.
    declared: Option<u64>,
    per_block: Vec<f64>,
}

impl Megabytes {
    fn add(&mut self, record: &RunRecord) {
        let planned =
            || record.plan.data.block_size.filter(|_| record.knows("data.block_size")).map(|bytes| bytes.0);
        let target_block_size =
            || record.targets.first().map(|target| target.identity.block_size).filter(|size| *size > 0);
        self.declared = self.declared.or_else(planned).or_else(target_block_size);
        // A rate of a few megabytes, printed without decimals, says nothing about a block.
        let sure =
            pair(record, "physical_read_mb_per_s", "physical_reads_per_s").filter(|(mb, _)| *mb >= 100.0);
        self.per_block.extend(sure.map(|(mb, blocks)| mb * 1e6 / blocks));
    }

    fn check(self) -> Option<AuditCheck> {
        const MEBI: f64 = 1_048_576.0 / 1e6;
        let bytes = median_of(self.per_block)?;
        // Block sizes are powers of two.
        let near = 2f64.powf(bytes.log2().round());
        let block = self.declared.map_or(near, |size| size as f64);
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
            (false, false) => (
                false,
                format!("megabytes ÷ blocks = {} bytes, which is not a block of {whole}", shown(bytes)),
            ),
        };
        Some(check(
            "reconcile.megabytes",
            agrees,
            format!("{whole} bytes"),
            format!("{} bytes", shown(bytes)),
            detail,
        ))
    }
}

/// Checks shares of CPU: busy and idle add up to all, user and sys to busy.
#[derive(Debug, Default)]
struct Cpu {
    checked: usize,
    /// The sum with the largest error.
    worst: Option<(f64, String)>,
}

impl Cpu {
    fn add(&mut self, record: &RunRecord) {
        let value = |name: &str| record.metrics.get(name).and_then(Metric::value);
        let [busy, user, sys, idle] =
            ["cpu_busy_pct", "cpu_user_pct", "cpu_sys_pct", "cpu_idle_pct"].map(value);
        if let (Some(busy), Some(idle)) = (busy, idle) {
            self.hold(busy + idle, 100.0, || format!("busy {} % and idle {} %", shown(busy), shown(idle)));
        }
        if let (Some(busy), Some(user), Some(sys)) = (busy, user, sys) {
            let words =
                || format!("user {} % and sys {} % of busy {} %", shown(user), shown(sys), shown(busy));
            self.hold(user + sys, busy, words);
        }
    }

    fn hold(&mut self, sum: f64, whole: f64, words: impl FnOnce() -> String) {
        // Shares are printed as whole numbers, so a sum of two may be off by one.
        const POINTS: f64 = 1.5;
        self.checked += 1;
        let off = (sum - whole).abs();
        if off > POINTS && self.worst.as_ref().is_none_or(|(before, _)| off > *before) {
            self.worst = Some((off, words()));
        }
    }

    fn check(self) -> Option<AuditCheck> {
        let Self { checked, worst } = self;
        let detail = match &worst {
            _ if checked == 0 => return None,
            None => format!("{checked} sums of CPU shares agree within rounding"),
            Some((_, words)) => format!("shares of CPU do not add up: {words}"),
        };
        Some(check("reconcile.cpu", worst.is_none(), "100 %".into(), String::new(), detail))
    }
}

/// Compares operations × their time with the sessions: more than fits into them is impossible
/// (Little 1961).
#[derive(Debug, Default)]
struct LittlesLaw {
    shares: Vec<f64>,
}

impl LittlesLaw {
    fn add(&mut self, record: &RunRecord) {
        let sessions = f64::from(record.sessions());
        if !record.knows("run.sessions_per_schema") || sessions <= 0.0 {
            return;
        }
        let value = |name: &str| figure(record, name).map(|figure| figure.0);
        if let (Some(rate), Some(time_us)) =
            (value("ops_per_s").filter(|rate| *rate > 0.0), value("service_mean_us"))
        {
            self.shares.push(rate * time_us / 1e6 / sessions);
        }
    }

    fn check(self) -> Option<AuditCheck> {
        let busy = median_of(self.shares)?;
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
}

/// Compares printed totals with the sums of their parts.
#[derive(Debug, Default)]
struct Targets {
    checked: usize,
    wrong: usize,
    first_wrong: Option<String>,
}

impl Targets {
    fn add(&mut self, line: &[RunRecord]) {
        if line.iter().all(|record| record.one_target_of.is_none()) {
            return;
        }
        for setting in crate::totals::settings(line.to_vec()).into_iter().filter(|setting| !setting.summed) {
            let names =
                setting.whole.metrics.iter().filter_map(|(name, metric)| Some((name, metric.value()?)));
            for (name, stated) in names {
                let Some(sum) = crate::totals::sum_of_metric(name, &setting.parts).value() else { continue };
                self.checked += 1;
                if (sum - stated).abs() > 1e-6 * stated.abs().max(1.0) {
                    self.wrong += 1;
                    self.first_wrong.get_or_insert_with(|| {
                        format!("{name} is {} in total, its parts are {}", shown(stated), shown(sum))
                    });
                }
            }
        }
    }

    fn check(self) -> Option<AuditCheck> {
        let Self { checked, wrong, first_wrong } = self;
        if checked == 0 {
            return None;
        }
        let detail = match &first_wrong {
            None => format!("{checked} totals are the sums of their targets"),
            Some(first) => format!("{wrong} of {checked} totals are not the sums of their targets: {first}"),
        };
        Some(check(
            "reconcile.targets",
            wrong == 0,
            checked.to_string(),
            (checked - wrong).to_string(),
            detail,
        ))
    }
}
