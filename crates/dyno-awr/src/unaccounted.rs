//! DB time that is neither CPU nor waits: time on a run queue, waits that nobody instruments, and calls whose time was
//! booked in this interval though they began before it. It is below nothing where waits were counted whose call still ran
//! when the interval ended.

use crate::number::Reading;
use crate::report::{AwrReport, Figure, Kind, Source};

/// The seconds of it, and its share of DB time in percent; absent where the report does not list all foreground events.
/// `is_whole`: the report was read to its last line.
pub(crate) fn unaccounted(report: &AwrReport, is_whole: bool) -> Option<(Figure, Figure)> {
    // A cluster's report lists its top events only.
    if report.kind == Kind::AwrRacGlobal || report.foreground_events.is_empty() {
        return None;
    }
    // Cut off, it may lack the end of the list; what follows the list says that it is all there.
    if !is_whole && report.background_events.is_empty() {
        return None;
    }
    let time = |name: &str| report.figures.get(&format!("time_model_s.{name}"));
    let (db_time, cpu) = (time("DB time")?, time("DB CPU")?);
    // Idle events have no share of DB time; they are listed beneath the others.
    let waited = report.foreground_events.iter().filter(|event| event.share_pct.is_some());
    let waited = waited.filter_map(|event| event.time_s);
    let sum = |a: Reading, b: Reading| Reading { value: a.value + b.value, step: a.step.hypot(b.step) };
    let known = waited.fold(cpu.reading, sum);
    let rest =
        Reading { value: db_time.reading.value - known.value, step: known.step.hypot(db_time.reading.step) };
    let source =
        Source { caption: "DB time less DB CPU and foreground waits".into(), ..db_time.source.clone() };
    let all = db_time.reading.value;
    let share = Reading { value: 100.0 * rest.value / all, step: 100.0 * rest.step / all };
    let figure = |reading| Figure { reading, source: source.clone() };
    (all > 0.0).then(|| (figure(rest), figure(share)))
}
