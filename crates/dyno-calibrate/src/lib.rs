//! Raw limits of a machine, measured without a database: what its device, its syncs and its memory give.
//!
//! They stand beside what a database gets out of the same machine. A figure that cannot be what it says is refused with its
//! reason ([`RawFigure::refused`]): that requests reached the device is proved by the device's own counters.
//!
//! | file | job |
//! | --- | --- |
//! | `order` | what is asked for, checked before anything is written |
//! | `course` | what the parts share |
//! | `memory`, `device`, `commits` | the parts |
//! | `fio` | the program that asks the device, and its answers |
//! | `file` | the file without a name |
//! | `witness`, `refuse` | what the device counted, and what is no figure of it |

mod commits;
mod course;
mod device;
mod error;
mod file;
mod fio;
mod memory;
mod order;
mod refuse;
mod witness;

use std::collections::BTreeSet;

use dyno_engine::Cancel;
use dyno_host::facts;
use dyno_plan::engine::IMPORTED;
use dyno_plan::{Target, TargetUrl};
use dyno_record::{Calibration, Kind, RawFigure, RawTest, Role, RunRecord, Status, Waits, now_rfc3339};

use commits::{Done, Logs};
use course::{Course, still_pays};
pub use error::CalibrateError;
pub use order::{COMMIT_BYTES, FILE_BYTES_MIN, Order, Part};
use refuse::{Asked, judged};
use witness::{PLACE, Witness};

/// What is told while it is under way.
#[derive(Debug, Clone, Copy)]
pub enum Told<'a> {
    /// This is done now.
    Step {
        /// What.
        what: &'a str,
        /// How long all will take from here on, s, as far as that can be known.
        left_s: f64,
    },
    /// This was measured, or refused.
    Figure(&'a RawFigure),
    /// This is not measured.
    LeftOut(&'a str),
}

/// File systems that lie in memory.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// Measures what `order` asks for; what was measured until `cancel` asks to stop is in the record, which then is interrupted.
///
/// # Errors
/// The folder is none, there is not room enough, or what is asked for makes no sense. A part that cannot be measured is no error:
/// the record says why.
pub fn calibrate(
    order: &Order,
    cancel: &Cancel,
    tell: &dyn Fn(Told<'_>),
) -> Result<RunRecord, CalibrateError> {
    let (folder, file_bytes) = order.checked()?;
    let started_at = now_rfc3339();
    let mut host = facts(&[(PLACE, &folder)]);
    host.roles = BTreeSet::from([Role::Driver]);
    let witness = Witness::of(&folder);
    let found = Calibration {
        folder: folder.display().to_string(),
        device: witness.device().map(str::to_owned),
        quick: order.quick,
        file_bytes,
        tool: None,
        p99_limit_us: order.p99_limit.as_secs_f64() * 1e6,
        figures: Vec::new(),
        left_out: Vec::new(),
    };
    let mut course = Course { order, folder, cancel, tell, witness, found, left_s: 0.0 };
    let processors = host.cpus_allowed.max(1);
    let file_system =
        host.mounts.get(PLACE).and_then(|mount| mount.split(' ').nth(1)).unwrap_or_default().to_owned();
    course.left_s = expected_s(&course, processors);
    if order.has(Part::Memory) {
        memory(
            &mut course,
            processors,
            host.facts.get("cgroup.memory.max_bytes").and_then(|max| max.parse().ok()),
        );
    }
    if IN_MEMORY.contains(&file_system.as_str()) {
        course.leave_out(format!(
            "device and commits: {} is a {file_system}, which lies in memory",
            course.found.folder
        ));
        course.found.file_bytes = 0;
    } else {
        if order.has(Part::Device) && !course.is_stopped() {
            device::measure(&mut course, processors);
        }
        if order.has(Part::Commit) && !course.is_stopped() {
            commits(&mut course);
        }
    }
    let (status, reason) = match (cancel.is_cancelled(), course.found.figures.is_empty()) {
        (true, _) => (Status::Interrupted, Some("stopped before its end")),
        (false, true) => (Status::Failed, Some("nothing could be measured")),
        (false, false) => (Status::Valid, None),
    };
    // Every record has a plan; of this one nothing is a fact, and its target is none.
    let url =
        TargetUrl { scheme: IMPORTED.0[0].name.to_owned(), path: "component".into(), ..TargetUrl::default() };
    let plan = dyno_plan::usual(Target { url, ..Target::default() }, IMPORTED);
    Ok(RunRecord {
        kind: Kind::Component,
        started_at,
        ended_at: now_rfc3339(),
        dyno_version: env!("CARGO_PKG_VERSION").into(),
        reasons: reason.map(str::to_owned).into_iter().collect(),
        calibration: Some(Box::new(course.found)),
        hosts: vec![host],
        waits: Waits::Absent { absent: "there is no database".into() },
        ..RunRecord::blank(status, plan)
    })
}

/// How long all of it will take, s.
fn expected_s(course: &Course<'_>, processors: u32) -> f64 {
    let order = course.order;
    let memory = memory_s(order) * order.ramp(processors).len() as f64;
    let steps = 2 * order.ramp(order.writers()).len();
    let parts = [
        (Part::Memory, memory),
        (Part::Device, device::expected_s(course)),
        (Part::Commit, steps as f64 * order.time().as_secs_f64()),
    ];
    parts.into_iter().filter(|(part, _)| order.has(*part)).map(|(_, seconds)| seconds).sum()
}

/// What one number of threads is expected to take, s.
fn memory_s(order: &Order) -> f64 {
    if order.quick { 2.0 } else { 5.0 }
}

/// Numbers of threads: doubled, and the processors.
fn threads(order: &Order, processors: u32) -> Vec<u32> {
    let mut all = order.ramp(processors);
    if all.last() != Some(&processors) {
        all.push(processors);
    }
    all
}

fn memory(course: &mut Course<'_>, processors: u32, allowed_bytes: Option<u64>) {
    let Some(available) = course.witness.available_bytes() else {
        return course.leave_out("memory: nobody tells how much of it may be had".to_owned());
    };
    // Four times as large as the caches is what the authors of STREAM ask for.
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

fn commits(course: &mut Course<'_>) {
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
            if !still_pays(&rates) {
                course.left_s = (course.left_s - order.time().as_secs_f64()).max(0.0);
                continue;
            }
            let what = format!("{}: {writers} writers", test.words(Some(order.commit_bytes)));
            course.step(&what, order.time().as_secs_f64());
            let before = course.witness.now();
            let done = match test {
                RawTest::Commit => logs.each(writers, order.commit_bytes, order.time(), course.cancel),
                _ => logs.shared(writers, order.commit_bytes, order.time(), course.cancel),
            };
            // What a stop has cut short is no figure.
            if course.is_stopped() {
                return;
            }
            let moved = course.witness.since(before);
            let figure = match done {
                Ok(Done { figure, bytes }) => {
                    let mut figure = judged(
                        figure,
                        Asked { write_bytes: bytes, read_bytes: 0 },
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

/// What is said where syncs flush nothing.
const NO_FLUSH: &str = "no flush of its cache was asked of the device: it says that it keeps what it has taken, or the mount forgoes it";
