//! Measures the raw limits of a machine without a database: its device, its syncs and its memory.
//!
//! The figures are shown beside those of a database on the same machine. An implausible figure is refused
//! with its reason ([`RawFigure::refused`]): the device's own counters prove that the requests reached the
//! device.
//!
//! | file | job |
//! | --- | --- |
//! | `order` | the request, checked before anything is written |
//! | `calibration_state` | state shared by the parts |
//! | `memory`, `device`, `commits` | the parts |
//! | `fio` | runs fio against the device and parses its output |
//! | `file` | the unlinked test file |
//! | `device_counters`, `refuse` | the device's own counters, and the checks that refuse a figure |

mod calibration_state;
mod commits;
mod device;
mod device_counters;
mod error;
mod file;
mod fio;
mod memory;
mod order;
mod refuse;

use std::collections::BTreeSet;

use dyno_engine::Cancel;
use dyno_host::facts;
use dyno_plan::engine::IMPORTED;
use dyno_plan::{TargetSettings, TargetUrl};
use dyno_record::{Calibration, RawFigure, RawTest, RecordKind, Role, RunRecord, Status, Waits, now_rfc3339};

use calibration_state::{CalibrationRun, is_worth_continuing};
use commits::{CommitMeasurement, Logs};
use device_counters::{DeviceCounters, PLACE};
pub use error::CalibrateError;
pub use order::{COMMIT_BYTES, CalibrationPart, CalibrationSpec, FILE_BYTES_MIN};
use refuse::{RequestedBytes, judge_figure};

#[derive(Debug, Clone, Copy)]
pub enum CalibrationEvent<'a> {
    Step {
        /// Text that names the step.
        description: &'a str,
        /// Estimated time until the end of the whole calibration, s.
        left_s: f64,
    },
    /// A figure was measured or refused.
    Figure(&'a RawFigure),
    /// A part is not measured, with the reason.
    LeftOut(&'a str),
}

/// File systems that are held in memory.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// Measures what `order` requests. After a stop request, the record holds the figures measured so far and is
/// marked interrupted.
///
/// # Errors
/// The folder is not usable, space is short, or the request is contradictory. A part that cannot be measured
/// is not an error: the record states the reason.
pub fn calibrate(
    order: &CalibrationSpec,
    cancel: &Cancel,
    tell: &dyn Fn(CalibrationEvent<'_>),
) -> Result<RunRecord, CalibrateError> {
    let (folder, file_bytes) = order.checked()?;
    let started_at = now_rfc3339();
    let mut host = facts(&[(PLACE, &folder)]);
    host.roles = BTreeSet::from([Role::Driver]);
    let witness = DeviceCounters::of(&folder);
    let empty_calibration = Calibration {
        folder: folder.display().to_string(),
        device: witness.device().map(str::to_owned),
        quick: order.quick,
        file_bytes,
        tool: None,
        p99_limit_us: order.p99_limit.as_secs_f64() * 1e6,
        figures: Vec::new(),
        left_out: Vec::new(),
    };
    let mut course =
        CalibrationRun { order, folder, cancel, tell, witness, results: empty_calibration, left_s: 0.0 };
    let processors = host.cpus_allowed.max(1);
    let file_system =
        host.mounts.get(PLACE).and_then(|mount| mount.split(' ').nth(1)).unwrap_or_default().to_owned();
    course.left_s = expected_s(&course, processors);
    if order.has(CalibrationPart::Memory) {
        memory(
            &mut course,
            processors,
            host.facts.get("cgroup.memory.max_bytes").and_then(|max| max.parse().ok()),
        );
    }
    if IN_MEMORY.contains(&file_system.as_str()) {
        course.leave_out(format!(
            "device and commits: {} is a {file_system}, which is in memory",
            course.results.folder
        ));
        course.results.file_bytes = 0;
    } else {
        if order.has(CalibrationPart::Device) && !course.is_stopped() {
            device::measure(&mut course, processors);
        }
        if order.has(CalibrationPart::Commit) && !course.is_stopped() {
            commits(&mut course);
        }
    }
    let (status, reason) = match (cancel.is_cancelled(), course.results.figures.is_empty()) {
        (true, _) => (Status::Interrupted, Some("stopped before its end")),
        (false, true) => (Status::Failed, Some("nothing could be measured")),
        (false, false) => (Status::Valid, None),
    };
    // Every record needs a plan; this one is a placeholder without facts or a target.
    let url =
        TargetUrl { scheme: IMPORTED.0[0].name.to_owned(), path: "component".into(), ..TargetUrl::default() };
    let plan = dyno_plan::usual(TargetSettings { url, ..TargetSettings::default() }, IMPORTED);
    Ok(RunRecord {
        kind: RecordKind::Component,
        started_at,
        ended_at: now_rfc3339(),
        dyno_version: env!("CARGO_PKG_VERSION").into(),
        reasons: reason.map(str::to_owned).into_iter().collect(),
        calibration: Some(Box::new(course.results)),
        hosts: vec![host],
        waits: Waits::Absent { absent: "there is no database".into() },
        ..RunRecord::blank(status, plan)
    })
}

/// Expected time of the whole calibration, s.
fn expected_s(course: &CalibrationRun<'_>, processors: u32) -> f64 {
    let order = course.order;
    let memory = memory_s(order) * order.ramp(processors).len() as f64;
    let steps = 2 * order.ramp(order.writers()).len();
    let parts = [
        (CalibrationPart::Memory, memory),
        (CalibrationPart::Device, device::expected_s(course)),
        (CalibrationPart::Commit, steps as f64 * order.time().as_secs_f64()),
    ];
    parts.into_iter().filter(|(part, _)| order.has(*part)).map(|(_, seconds)| seconds).sum()
}

/// Expected time of one step of the memory part, s.
fn memory_s(order: &CalibrationSpec) -> f64 {
    if order.quick { 2.0 } else { 5.0 }
}

/// Numbers of threads: doubled at each step, and the number of processors.
fn threads(order: &CalibrationSpec, processors: u32) -> Vec<u32> {
    let mut all = order.ramp(processors);
    if all.last() != Some(&processors) {
        all.push(processors);
    }
    all
}

fn memory(course: &mut CalibrationRun<'_>, processors: u32, allowed_bytes: Option<u64>) {
    let Some(available) = course.witness.available_bytes() else {
        return course.leave_out("memory: the available amount is unknown".to_owned());
    };
    // The authors of STREAM require four times the size of the caches.
    let (times, repeats) = if course.order.quick { (2, 3) } else { (4, 7) };
    let (bytes, note) =
        memory::size(available.min(allowed_bytes.unwrap_or(u64::MAX)), memory::cache_bytes(), times);
    for threads in threads(course.order, processors) {
        let seconds = memory_s(course.order);
        course.step(&format!("memory: {threads} threads on {} MiB", bytes >> 20), seconds);
        let Some(figures) = memory::measure(threads, bytes, repeats, course.cancel) else { return };
        for mut figure in figures {
            figure.notes.extend(note.clone());
            course.put(figure);
        }
    }
}

fn commits(course: &mut CalibrationRun<'_>) {
    let order = course.order;
    let logs = match Logs::new(&course.folder, order.writers(), course.cancel) {
        Ok(Some(logs)) => logs,
        Ok(None) => return,
        Err(error) => return course.leave_out(format!("commits: their logs cannot be written: {error}")),
    };
    for test in [RawTest::Commit, RawTest::GroupCommit] {
        let mut rates = Vec::new();
        for writers in order.ramp(order.writers()) {
            if course.is_stopped() {
                return;
            }
            if !is_worth_continuing(&rates) {
                course.left_s = (course.left_s - order.time().as_secs_f64()).max(0.0);
                continue;
            }
            let description = format!("{}: {writers} writers", test.words(Some(order.commit_bytes)));
            course.step(&description, order.time().as_secs_f64());
            let before = course.witness.read_counters();
            let measurement = match test {
                RawTest::Commit => {
                    logs.measure_separate_logs(writers, order.commit_bytes, order.time(), course.cancel)
                }
                _ => logs.measure_shared_log(writers, order.commit_bytes, order.time(), course.cancel),
            };
            // A figure that a stop cut short is discarded.
            if course.is_stopped() {
                return;
            }
            let moved = course.witness.activity_since(before);
            let figure = match measurement {
                Ok(CommitMeasurement { figure, bytes }) => {
                    let mut figure = judge_figure(
                        figure,
                        RequestedBytes { write_bytes: bytes, read_bytes: 0 },
                        moved,
                        course.memory_mb_per_s(),
                    );
                    if moved.is_some_and(|moved| moved.flushes == Some(0)) {
                        figure.notes.push(NO_FLUSH.to_owned());
                    }
                    figure
                }
                Err(error) => {
                    RawFigure::of(test, Some(order.commit_bytes), writers, writers).refused(error.to_string())
                }
            };
            rates.push(figure.per_s.unwrap_or(0.0));
            course.put(figure);
        }
    }
}

/// Note for a figure whose syncs flushed nothing.
const NO_FLUSH: &str = "the device received no cache flush: it reports a non-volatile cache, or the mount \
    disables flushes";
