//! Derives figures from those of a report: IOPS, transfer, active sessions, mean latencies.
//!
//! Rates come from counters of requests and bytes: from the printed rate, or from the printed total
//! divided by the interval, whichever has more digits. Redo is what was written to storage (the I/O
//! profile; in older releases the log writer's I/O), not `redo size`. Neither the number nor the
//! size of writes follows from the generated redo. Megabytes are those of the report, 1,048,576
//! bytes, and are called MiB to be unambiguous.

use crate::number::PrintedNumber;
use crate::offload::offload;
use crate::report::{AwrFigure, AwrReport, AwrReportKind, AwrSource, AwrWaitEvent, IoRow};
use crate::unaccounted::unaccounted;

/// Number of bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// Reads of one block, by their names on file systems, ASM and Exadata.
const SINGLE_BLOCK_READS: [&str; 7] = [
    "db file sequential read",
    "cell single block physical read",
    "cell single block physical read: flash cache",
    "cell single block physical read: RDMA",
    "cell single block physical read: pmem cache",
    "cell single block physical read: xrmem cache",
    "cell single block read request",
];

/// Adds every figure that can be computed.
pub(crate) fn derive(report: &mut AwrReport, is_whole: bool) {
    let elapsed = report.figures.get("elapsed_min").map(|figure| scale(figure.reading, 60.0));
    let mut computed: Vec<(&str, Option<AwrFigure>)> = Vec::new();
    let with = |elapsed: Option<PrintedNumber>, compute: &dyn Fn(PrintedNumber) -> Option<AwrFigure>| {
        elapsed.and_then(compute)
    };
    let rate =
        |name: &str, divisor: f64| with(elapsed, &|elapsed| activity_rate(report, name, divisor, elapsed));
    let profile = |name: &str| report.figures.get(name).cloned();

    computed.push(("avg_active_sessions", with(elapsed, &|elapsed| active_sessions(report, elapsed))));
    computed.push(("cpu_busy_pct", cpu_busy(report)));
    let lio = better(profile("load_profile_per_s.logical_reads"), rate("session logical reads", 1.0));
    computed.push(("logical_reads_per_s", lio));
    let read_iops = rate("physical read total IO requests", 1.0)
        .or_else(|| profile("io_profile_read_per_s.total_requests"))
        .or_else(|| io_total(report, "read_requests_per_s", 1.0));
    computed.push(("read_iops", read_iops));
    let write_iops = rate("physical write total IO requests", 1.0)
        .or_else(|| profile("io_profile_write_per_s.total_requests"))
        .or_else(|| io_total(report, "write_requests_per_s", 1.0));
    computed.push(("write_iops", write_iops));
    let read_mib = rate("physical read total bytes", MIB)
        .or_else(|| profile("io_profile_read_per_s.total_mb"))
        .or_else(|| io_total(report, "read_bytes_per_s", MIB));
    computed.push(("read_mib_per_s", read_mib));
    let write_mib = rate("physical write total bytes", MIB)
        .or_else(|| profile("io_profile_write_per_s.total_mb"))
        .or_else(|| io_total(report, "write_bytes_per_s", MIB));
    computed.push(("write_mib_per_s", write_mib));
    computed.push((
        "redo_iops",
        redo(report, "redo_requests", |row| io_figure(row, "write_requests_per_s", 1.0)),
    ));
    let redo_mib = redo(report, "redo_mb", |row| {
        let volume = io_figure(row, "write_bytes", MIB);
        let over_elapsed = volume.and_then(|volume| {
            Some(AwrFigure { reading: divide(volume.reading, elapsed?)?, source: volume.source })
        });
        better(over_elapsed, io_figure(row, "write_bytes_per_s", MIB))
    });
    computed.push(("redo_mib_per_s", redo_mib));
    let generated = better(profile("load_profile_per_s.redo_size"), rate("redo size", 1.0));
    computed.push(("redo_generated_bytes_per_s", generated));
    computed.push(("single_block_read_ms", mean_ms(report, &SINGLE_BLOCK_READS)));
    let (seconds, share) = unaccounted(report, is_whole).unzip();
    computed.push(("db_time_unaccounted_s", seconds));
    computed.push(("db_time_unaccounted_pct", share));
    computed.push(("log_file_sync_ms", mean_ms(report, &["log file sync"])));
    computed.push(("log_file_parallel_write_ms", background_mean_ms(report, "log file parallel write")));

    computed.extend(offload(report, elapsed.map(|elapsed| elapsed.value)));

    for (name, figure) in computed {
        if let Some(figure) = figure {
            report.figures.insert(format!("derived.{name}"), figure);
        }
    }
}

fn scale(reading: PrintedNumber, factor: f64) -> PrintedNumber {
    PrintedNumber { value: reading.value * factor, step: reading.step * factor }
}

/// The quotient of two figures; the relative errors add up.
fn divide(numerator: PrintedNumber, denominator: PrintedNumber) -> Option<PrintedNumber> {
    if denominator.value <= 0.0 {
        return None;
    }
    let value = numerator.value / denominator.value;
    let step = numerator.step / denominator.value + value.abs() * denominator.step / denominator.value;
    Some(PrintedNumber { value, step })
}

/// Characters of a statistic's name that text reports print.
const CUT_NAME: usize = 32;

/// A counter of instance activity per second.
fn activity_rate(report: &AwrReport, name: &str, divisor: f64, elapsed: PrintedNumber) -> Option<AwrFigure> {
    let find_counter = |group: &str| {
        let cut = || report.figures.get(&format!("{group}.{}", name.get(..CUT_NAME)?));
        report.figures.get(&format!("{group}.{name}")).or_else(cut)
    };
    let figure = |from: &AwrFigure, reading: PrintedNumber, how: &str| {
        let caption = format!("{name} / {}{how}", from.source.caption).into();
        AwrFigure {
            reading: scale(reading, 1.0 / divisor),
            source: AwrSource { caption, ..from.source.clone() },
        }
    };
    let printed = find_counter("instance_activity_per_s").map(|from| figure(from, from.reading, ""));
    let computed = find_counter("instance_activity")
        .and_then(|from| Some(figure(from, divide(from.reading, elapsed)?, " over Elapsed")));
    better(printed, computed)
}

/// DB time divided by elapsed time; the time model has more digits than the head of the report.
fn active_sessions(report: &AwrReport, elapsed: PrintedNumber) -> Option<AwrFigure> {
    let model = report.figures.get("time_model_s.DB time");
    let head = report.figures.get("db_time_min");
    let (figure, seconds) = match (model, head) {
        (Some(model), _) => (model, model.reading),
        (None, Some(head)) => (head, scale(head.reading, 60.0)),
        (None, None) => return None,
    };
    let caption = "DB time over Elapsed".into();
    Some(AwrFigure {
        reading: divide(seconds, elapsed)?,
        source: AwrSource { caption, ..figure.source.clone() },
    })
}

/// Share of the host's CPU time that was not idle.
fn cpu_busy(report: &AwrReport) -> Option<AwrFigure> {
    let figure = |name: &str| report.figures.get(name);
    let times = [
        (figure("os_stats.BUSY_TIME"), figure("os_stats.IDLE_TIME")),
        // By their names in 10.1.
        (figure("os_stats.BUSY_TICKS"), figure("os_stats.IDLE_TICKS")),
        (figure("host_cpu.busy_s"), figure("host_cpu.idle_s")),
    ];
    for (busy, idle) in times {
        if let (Some(busy), Some(idle)) = (busy, idle) {
            let all = busy.reading.value + idle.reading.value;
            let reading = PrintedNumber {
                value: 100.0 * busy.reading.value / all,
                step: 100.0 * busy.reading.step / all,
            };
            let caption = "busy time over busy and idle time".into();
            return (all > 0.0)
                .then(|| AwrFigure { reading, source: AwrSource { caption, ..busy.source.clone() } });
        }
    }
    let idle = figure("host_cpu.idle_pct")?;
    let reading = PrintedNumber { value: 100.0 - idle.reading.value, step: idle.reading.step };
    let caption = format!("100 less {}", idle.source.caption).into();
    Some(AwrFigure { reading, source: AwrSource { caption, ..idle.source.clone() } })
}

/// The more precise of two sources of one figure.
fn better(first: Option<AwrFigure>, alternative: Option<AwrFigure>) -> Option<AwrFigure> {
    match (&first, &alternative) {
        (Some(a), Some(b)) if b.reading.relative_error() < a.reading.relative_error() => alternative,
        (Some(_), _) => first,
        (None, _) => alternative,
    }
}

fn io_figure(row: &IoRow, name: &str, divisor: f64) -> Option<AwrFigure> {
    let reading = scale(*row.figures.get(name)?, 1.0 / divisor);
    let caption = format!("{} / {name}", row.name).into();
    Some(AwrFigure { reading, source: AwrSource { section: "IOStat".into(), caption, line: row.line } })
}

fn io_total(report: &AwrReport, name: &str, divisor: f64) -> Option<AwrFigure> {
    let is_total = |row: &&IoRow| row.name.eq_ignore_ascii_case("total");
    io_figure(report.io_functions.iter().find(is_total)?, name, divisor)
}

/// Writes of redo. The I/O profile has those to files of type log; without it, they are the log
/// writer's, which include writes of the control file. A cluster's I/O profile counts redo before
/// it is multiplexed, and is not used.
fn redo(
    report: &AwrReport,
    profile: &str,
    figure_of: impl Fn(&IoRow) -> Option<AwrFigure>,
) -> Option<AwrFigure> {
    let profile = report.figures.get(&format!("io_profile_write_per_s.{profile}")).cloned();
    let row = |rows: &[IoRow], name: &str| rows.iter().find(|row| row.name == name).and_then(&figure_of);
    let files = row(&report.io_filetypes, "Log File");
    let written = match report.kind {
        AwrReportKind::AwrRacGlobal => files,
        _ => better(profile, files),
    };
    written.or_else(|| row(&report.io_functions, "LGWR"))
}

/// The mean over several events, weighted by their waits.
fn mean_ms(report: &AwrReport, names: &[&str]) -> Option<AwrFigure> {
    let mut events: Vec<&AwrWaitEvent> = names.iter().filter_map(|name| report.event(name)).collect();
    // One truncated name may stand for several events.
    events.dedup_by_key(|event| std::ptr::from_ref(*event));
    weighted_mean_ms(&events)
}

fn background_mean_ms(report: &AwrReport, name: &str) -> Option<AwrFigure> {
    weighted_mean_ms(&[background_event(report, name)?])
}

/// A wait event of background processes; of all processes where the report adds both kinds up.
pub(crate) fn background_event<'r>(report: &'r AwrReport, name: &str) -> Option<&'r AwrWaitEvent> {
    let lists = [&report.background_events, &report.all_events];
    lists.into_iter().find_map(|list| list.iter().find(|event| report.is_event(&event.name, name)))
}

fn weighted_mean_ms(events: &[&AwrWaitEvent]) -> Option<AwrFigure> {
    let mut waits = 0.0;
    let mut time = PrintedNumber { value: 0.0, step: 0.0 };
    let mut first: Option<&AwrWaitEvent> = None;
    for event in events {
        let (Some(count), Some(mean)) = (event.waits, event.mean_s()) else { continue };
        waits += count.value;
        time = PrintedNumber {
            value: time.value + mean.value * count.value,
            step: time.step + mean.step * count.value,
        };
        first = first.or(Some(event));
    }
    let first = first.filter(|_| waits > 0.0)?;
    let reading = scale(time, 1e3 / waits);
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let caption = format!("mean wait of {}", names.join(", ")).into();
    Some(AwrFigure { reading, source: AwrSource { caption, ..first.source.clone() } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{TimeReading, TimeUnit};

    fn event(waits: f64, time_s: f64, time_step: f64, average: Option<(f64, f64, TimeUnit)>) -> AwrWaitEvent {
        AwrWaitEvent {
            name: "db file sequential read".into(),
            waits: Some(PrintedNumber::exact(waits)),
            time_s: Some(PrintedNumber { value: time_s, step: time_step }),
            time_raw: String::new(),
            average: average
                .map(|(value, step, unit)| TimeReading { reading: PrintedNumber { value, step }, unit }),
            average_raw: String::new(),
            share_pct: None,
            timeouts_pct: None,
            class: None,
            source: AwrSource { section: "".into(), caption: "".into(), line: 1 },
        }
    }

    #[test]
    fn mean_wait_uses_source_with_more_digits() {
        // 11g: 520,207 waits in 4,568 s, printed as 9 ms.
        let coarse = event(520_207.0, 4_568.0, 1.0, Some((9.0, 1.0, TimeUnit::Ms)));
        let mean = weighted_mean_ms(&[&coarse]).unwrap().reading;
        assert!((mean.value - 8.7812).abs() < 1e-3, "{mean:?}");
        assert!(mean.step < 0.01, "{mean:?}");
        // 12.2: 360,121 waits in 40 s, printed as 109.72 us.
        let fine = event(360_121.0, 40.0, 1.0, Some((109.72, 0.01, TimeUnit::Us)));
        let mean = weighted_mean_ms(&[&fine]).unwrap().reading;
        assert!((mean.value - 0.109_72).abs() < 1e-9, "{mean:?}");
    }

    #[test]
    fn mean_wait_of_several_events_is_weighted() {
        let many = event(300.0, 0.3, 0.0, None);
        let few = event(100.0, 0.5, 0.0, None);
        let mean = weighted_mean_ms(&[&many, &few]).unwrap().reading;
        assert!((mean.value - 2.0).abs() < 1e-12);
        assert!(weighted_mean_ms(&[]).is_none());
    }
}
