//! The columns of flashdba's awr-parser 1.02: 178 of them.

use std::borrow::Cow;

use super::Columns;
use crate::derive;
use crate::number::PrintedNumber;
use crate::report::{AwrHistogramBand, AwrReport, AwrReportKind, AwrWaitEvent, EventHistogram};
use crate::row::AwrValue;

/// Events that awr-parser has columns for: foreground ones, then background ones.
const FOREGROUND: [&str; 7] = [
    "db file sequential read",
    "db file scattered read",
    "direct path read",
    "direct path write",
    "direct path read temp",
    "direct path write temp",
    "log file sync",
];
const BACKGROUND: [&str; 3] =
    ["db file parallel write", "log file parallel write", "log file sequential read"];

/// Events for which awr-parser has histograms.
const HISTOGRAMS: [&str; 2] = ["db file sequential read", "log file parallel write"];

/// Wait classes that awr-parser has columns for, by its names and by Oracle's.
const CLASSES: [(&str, &str); 9] = [
    ("Admin", "Administrative"),
    ("Application", "Application"),
    ("Cluster", "Cluster"),
    ("Commit", "Commit"),
    ("Concurrency", "Concurrency"),
    ("Configuration", "Configuration"),
    ("Network", "Network"),
    ("Other", "Other"),
    ("System I/O", "System I/O"),
];

pub(super) fn parser(report: Option<&AwrReport>) -> Columns {
    let mut columns: Columns = Vec::new();
    let mut add = |name: Cow<'static, str>, value: &dyn Fn(&AwrReport) -> AwrValue| {
        columns.push((name, report.map_or(AwrValue::Absent, value)));
    };
    let word = |name: &'static str| move |report: &AwrReport| AwrValue::from(report.word(name));
    let figure = |name: &'static str| move |report: &AwrReport| AwrValue::from(report.reading(name));
    add("Filename".into(), &|report| AwrValue::Text(report.file.clone()));
    add("Database Name".into(), &word("db_name"));
    add("Instance Number".into(), &figure("inst_num"));
    add("Instance Name".into(), &word("instance"));
    add("Database Version".into(), &word("version"));
    add("Cluster".into(), &|report| {
        AwrValue::from(report.word("rac").map(|rac| if rac == "YES" { "Y" } else { "N" }))
    });
    add("Hostname".into(), &word("host"));
    add("Host OS".into(), &word("platform"));
    add("Num CPUs".into(), &figure("cpus"));
    add("Server Memory (GB)".into(), &figure("memory_gb"));
    add("DB Block Size".into(), &block_size);
    add("Begin Snap".into(), &figure("begin_snap"));
    add("Begin Time".into(), &word("begin_time"));
    add("End Snap".into(), &figure("end_snap"));
    add("End Time".into(), &word("end_time"));
    add("Elapsed Time (mins)".into(), &figure("elapsed_min"));
    add("DB Time (mins)".into(), &figure("db_time_min"));
    add("Average Active Sessions".into(), &figure("derived.avg_active_sessions"));
    add("Busy Flag".into(), &busy);
    add("Logical Reads/sec".into(), &figure("load_profile_per_s.logical_reads"));
    add("Block Changes/sec".into(), &figure("load_profile_per_s.block_changes"));
    add("Read IOPS".into(), &figure("derived.read_iops"));
    add("Write IOPS".into(), &|r| less(r.reading("derived.write_iops"), redo_iops(r)));
    add("Redo IOPS".into(), &|r| AwrValue::from(redo_iops(r)));
    add("All Write IOPS".into(), &figure("derived.write_iops"));
    add("Total IOPS".into(), &|r| sum(r, "derived.read_iops", "derived.write_iops"));
    add("Read Throughput (MiB/sec)".into(), &figure("derived.read_mib_per_s"));
    add("Write Throughput (MiB/sec)".into(), &|r| less(r.reading("derived.write_mib_per_s"), redo_mib(r)));
    add("Redo Throughput (MiB/sec)".into(), &|r| AwrValue::from(redo_mib(r)));
    add("All Write Throughput (MiB/sec)".into(), &figure("derived.write_mib_per_s"));
    add("Total Throughput (MiB/sec)".into(), &|r| {
        sum(r, "derived.read_mib_per_s", "derived.write_mib_per_s")
    });
    add("DB CPU Time (s)".into(), &figure("time_model_s.DB CPU"));
    add("DB CPU %DBTime".into(), &|r| db_cpu_share(r));
    class(&mut add, "Wait Class User I/O", "User I/O");
    for (name, key) in [
        ("User Calls/sec", "load_profile_per_s.user_calls"),
        ("Parses/sec", "load_profile_per_s.parses"),
        ("Hard Parses/sec", "load_profile_per_s.hard_parses"),
        ("Logons/sec", "load_profile_per_s.logons"),
        ("Executes/sec", "load_profile_per_s.executes"),
        ("Transactions/sec", "load_profile_per_s.transactions"),
        ("Buffer Hit Ratio (%)", "efficiency_pct.buffer_hit"),
        ("In-Memory Sort Ratio (%)", "efficiency_pct.in_memory_sort"),
        ("Log Switches (Total)", "instance_activity.log switches (derived)"),
        ("Log Switches (Per Hour)", "instance_activity_per_hour.log switches (derived)"),
    ] {
        add(name.into(), &figure(key));
    }
    top_events(&mut add);
    for name in FOREGROUND {
        event(&mut add, name, &|report| report.event(name));
    }
    for name in BACKGROUND {
        background(&mut add, name);
    }
    for (name, key) in [
        ("OS busy time", "os_stats.BUSY_TIME"),
        ("OS idle time", "os_stats.IDLE_TIME"),
        ("OS iowait time", "os_stats.IOWAIT_TIME"),
        ("OS sys time", "os_stats.SYS_TIME"),
        ("OS user time", "os_stats.USER_TIME"),
        ("OS cpu wait time", "os_stats.OS_CPU_WAIT_TIME"),
        ("OS resource mgr wait time", "os_stats.RSRC_MGR_CPU_WAIT_TIME"),
    ] {
        add(name.into(), &figure(key));
    }
    let any_event = |report: &AwrReport, starts: &[&str]| {
        let lists = [&report.foreground_events, &report.background_events];
        let is_listed =
            lists.into_iter().flatten().any(|event| starts.iter().any(|start| event.name.starts_with(start)));
        AwrValue::Text(if is_listed { "Y" } else { "N" }.to_owned())
    };
    add("Data Guard Flag".into(), &|r| {
        any_event(r, &["LNS ", "LGWR-LNS", "Redo Transport", "ARCH wait on SENDREQ"])
    });
    add("Exadata Flag".into(), &|r| any_event(r, &["cell smart", "cell single block", "cell multiblock"]));
    for (name, class_name) in CLASSES {
        class(&mut add, &format!("Wait Class {name}"), class_name);
    }
    for name in HISTOGRAMS {
        histogram(&mut add, name);
    }
    columns
}

/// Adds a column: its name, and how to compute its value.
type Add<'a> = dyn FnMut(Cow<'static, str>, &dyn Fn(&AwrReport) -> AwrValue) + 'a;

fn class(add: &mut Add<'_>, name: &str, class: &str) {
    // Foreground sessions only: later releases print the classes of all sessions first, which are
    // another figure.
    let find =
        |report: &AwrReport| report.foreground_wait_classes.iter().find(|event| event.name == class).cloned();
    add_event_with_share(add, name, &find);
}

fn event(add: &mut Add<'_>, name: &str, find: &dyn Fn(&AwrReport) -> Option<&AwrWaitEvent>) {
    add_event_with_share(add, name, &|report| find(report).cloned());
}

/// A background event; its share is of the time of background processes, as printed.
fn background(add: &mut Add<'_>, name: &str) {
    let find = |report: &AwrReport| derive::background_event(report, name).cloned();
    add_event(add, name, &find);
    add(format!("{name} %DBTime").into(), &|r| AwrValue::from(find(r).and_then(|event| event.share_pct)));
}

/// Waits, time, latency and share of an event or a class.
fn add_event_with_share(add: &mut Add<'_>, name: &str, find: &dyn Fn(&AwrReport) -> Option<AwrWaitEvent>) {
    add_event(add, name, find);
    add(format!("{name} %DBTime").into(), &|r| match find(r) {
        // STATSPACK prints shares of call time, which is another base.
        Some(AwrWaitEvent { share_pct: Some(printed), .. }) if r.kind != AwrReportKind::Statspack => {
            AwrValue::Number(printed)
        }
        event => share(r, event.and_then(|event| event.time_s)),
    });
}

fn add_event(add: &mut Add<'_>, name: &str, find: &dyn Fn(&AwrReport) -> Option<AwrWaitEvent>) {
    let event_value = |report: &AwrReport, part: &dyn Fn(&AwrWaitEvent) -> Option<PrintedNumber>| {
        AwrValue::from(find(report).and_then(|event| part(&event)))
    };
    add(format!("{name} Waits").into(), &|r| event_value(r, &|event| event.waits));
    add(format!("{name} Time (s)").into(), &|r| event_value(r, &|event| event.time_s));
    add(format!("{name} Latency (ms)").into(), &|r| event_value(r, &|event| event.mean_s().map(milli)));
}

/// The bands of awr-parser's histograms: names, begin and end, µs.
const BANDS: [(&str, u64, Option<u64>); 8] = [
    ("<1ms", 0, Some(MS_US)),
    ("<2ms", MS_US, Some(2 * MS_US)),
    ("<4ms", 2 * MS_US, Some(4 * MS_US)),
    ("<8ms", 4 * MS_US, Some(8 * MS_US)),
    ("<16ms", 8 * MS_US, Some(16 * MS_US)),
    ("<32ms", 16 * MS_US, Some(32 * MS_US)),
    ("<1s", 32 * MS_US, Some(1_024 * MS_US)),
    (">1s", 1_024 * MS_US, None),
];

/// A report's "millisecond" in microseconds.
const MS_US: u64 = 1_024;

fn histogram(add: &mut Add<'_>, event: &str) {
    for (band, from, below) in BANDS {
        add(format!("Histogram {band} {event}").into(), &|report| {
            let of_event = |known: &&EventHistogram| report.is_event(&known.event, event);
            AwrValue::from(
                report.histograms.iter().find(of_event).and_then(|known| share_between(known, from, below)),
            )
        });
    }
}

/// The share of waits in a band, %, summed over finer bands. Absent where a band of the report
/// extends beyond its ends. Bands that the report omits have no waits.
fn share_between(histogram: &EventHistogram, from: u64, below: Option<u64>) -> Option<PrintedNumber> {
    let end = |below: Option<u64>| below.unwrap_or(u64::MAX);
    let overlaps = |band: &&AwrHistogramBand| band.from_us < end(below) && end(band.below_us) > from;
    let inside = |band: &AwrHistogramBand| band.from_us >= from && end(band.below_us) <= end(below);
    let bands: Vec<&AwrHistogramBand> = histogram.bands.iter().filter(overlaps).collect();
    let sum = |sum: PrintedNumber, band: &&AwrHistogramBand| PrintedNumber {
        value: sum.value + band.share_pct.value,
        step: sum.step + band.share_pct.step,
    };
    bands.iter().all(|band| inside(band)).then(|| bands.iter().fold(PrintedNumber::exact(0.0), sum))
}

fn top_events(add: &mut Add<'_>) {
    for rank in 0..5 {
        let name = format!("Top5 Event{}", rank + 1);
        let ranked_value = |report: &AwrReport, part: &dyn Fn(&AwrWaitEvent) -> AwrValue| {
            report.top_events.get(rank).map_or(AwrValue::Absent, part)
        };
        add(format!("{name} Name").into(), &|r| ranked_value(r, &|event| AwrValue::Text(event.name.clone())));
        add(format!("{name} Class").into(), &|r| {
            ranked_value(r, &|event| AwrValue::from(event.class.as_deref()))
        });
        add(format!("{name} Waits").into(), &|r| ranked_value(r, &|event| AwrValue::from(event.waits)));
        add(format!("{name} Time (s)").into(), &|r| ranked_value(r, &|event| AwrValue::from(event.time_s)));
        add(format!("{name} Average Time (ms)").into(), &|r| {
            ranked_value(r, &|event| AwrValue::from(event.mean_s().map(milli)))
        });
        add(format!("{name} %DBTime").into(), &|r| ranked_value(r, &|event| AwrValue::from(event.share_pct)));
    }
}

fn milli(seconds: PrintedNumber) -> PrintedNumber {
    PrintedNumber { value: seconds.value * 1e3, step: seconds.step * 1e3 }
}

fn block_size(report: &AwrReport) -> AwrValue {
    let cache = report.reading("cache_bytes_begin.std_block_size").or_else(|| report.reading("block_size"));
    AwrValue::from(cache)
}

/// Whether more sessions were active than there are CPUs.
fn busy(report: &AwrReport) -> AwrValue {
    match (report.value("derived.avg_active_sessions"), report.value("cpus")) {
        (Some(active), Some(cpus)) => AwrValue::Text(if active > cpus { "Y" } else { "N" }.to_owned()),
        _ => AwrValue::Absent,
    }
}

fn sum(report: &AwrReport, a: &str, b: &str) -> AwrValue {
    let readings = report.reading(a).zip(report.reading(b));
    AwrValue::from(readings.map(|(a, b)| PrintedNumber { value: a.value + b.value, step: a.step + b.step }))
}

/// Writes of the log writer, as awr-parser counts them: each is one request to each copy of the log.
fn redo_iops(report: &AwrReport) -> Option<PrintedNumber> {
    report.reading("instance_activity_per_s.redo writes")
}

/// Redo that was generated, as defined by awr-parser.
fn redo_mib(report: &AwrReport) -> Option<PrintedNumber> {
    let bytes = report
        .reading("load_profile_per_s.redo_size")
        .or_else(|| report.reading("derived.redo_generated_bytes_per_s"))?;
    Some(PrintedNumber { value: bytes.value / MIB, step: bytes.step / MIB })
}

/// Number of bytes in a MiB.
const MIB: f64 = 1_048_576.0;

fn less(a: Option<PrintedNumber>, b: Option<PrintedNumber>) -> AwrValue {
    let readings = a.zip(b);
    AwrValue::from(
        readings.map(|(a, b)| PrintedNumber { value: (a.value - b.value).max(0.0), step: a.step + b.step }),
    )
}

/// The share of CPU in DB time as printed; computed where the report has the seconds only.
fn db_cpu_share(report: &AwrReport) -> AwrValue {
    match report.reading("time_model_pct.DB CPU") {
        Some(printed) => AwrValue::Number(printed),
        None => share(report, report.reading("time_model_s.DB CPU")),
    }
}

/// A time as a share of DB time, %.
fn share(report: &AwrReport, seconds: Option<PrintedNumber>) -> AwrValue {
    let db_time =
        report.value("time_model_s.DB time").or_else(|| report.value("db_time_min").map(|min| min * 60.0));
    let share = seconds.zip(db_time.filter(|time| *time > 0.0));
    AwrValue::from(share.map(|(seconds, all)| PrintedNumber {
        value: 100.0 * seconds.value / all,
        step: 100.0 * seconds.step / all,
    }))
}
