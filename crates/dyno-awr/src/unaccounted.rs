//! Computes DB time that is neither CPU nor waits. It is time in a run queue, waits without
//! instrumentation, and calls that began earlier but whose time was counted in this interval. It is
//! negative where waits were counted whose call was still in progress when the interval ended.

use crate::number::PrintedNumber;
use crate::report::{AwrFigure, AwrReport, AwrReportKind, AwrSource};

/// The unaccounted seconds, and their share of DB time in percent; absent where the report does not
/// list all foreground events. `is_whole`: the report was read to its last line.
pub(crate) fn unaccounted(report: &AwrReport, is_whole: bool) -> Option<(AwrFigure, AwrFigure)> {
    // A cluster's report lists its top events only.
    if report.kind == AwrReportKind::AwrRacGlobal || report.foreground_events.is_empty() {
        return None;
    }
    // A truncated report may lack the end of the list; the section after the list proves that it is
    // complete.
    if !is_whole && report.background_events.is_empty() {
        return None;
    }
    let time = |name: &str| report.figures.get(&format!("time_model_s.{name}"));
    let (db_time, cpu) = (time("DB time")?, time("DB CPU")?);
    // Idle events have no share of DB time; they are listed below the others.
    let waited = report.foreground_events.iter().filter(|event| event.share_pct.is_some());
    let waited = waited.filter_map(|event| event.time_s);
    let sum = |a: PrintedNumber, b: PrintedNumber| PrintedNumber {
        value: a.value + b.value,
        step: a.step.hypot(b.step),
    };
    let accounted = waited.fold(cpu.reading, sum);
    let rest = PrintedNumber {
        value: db_time.reading.value - accounted.value,
        step: accounted.step.hypot(db_time.reading.step),
    };
    let source =
        AwrSource { caption: "DB time less DB CPU and foreground waits".into(), ..db_time.source.clone() };
    let all = db_time.reading.value;
    let share = PrintedNumber { value: 100.0 * rest.value / all, step: 100.0 * rest.step / all };
    let figure = |reading| AwrFigure { reading, source: source.clone() };
    (all > 0.0).then(|| (figure(rest), figure(share)))
}
