//! The columns of two older readers, so that spreadsheets made for them go on working: flashdba's awr-parser, and SLOB's
//! awr_info. Both are made anew from what their columns say; where one of them takes a figure from another place than
//! this program does (redo from `redo size`), the column keeps its own meaning.

use std::borrow::Cow;

use crate::derive;
use crate::format::plain;
use crate::number::Reading;
use crate::report::{Event, Report};
use crate::row::Value;

/// Whose columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// awr-parser: CSV.
    AwrParser,
    /// awr_info: fields between bars.
    AwrInfo,
}

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

impl Layout {
    /// The names of the columns.
    pub fn names(self) -> Vec<String> {
        let dummy = |(name, _): (Cow<'static, str>, Value)| name.into_owned();
        match self {
            Self::AwrParser => parser(None).into_iter().map(dummy).collect(),
            Self::AwrInfo => info(None).into_iter().map(dummy).collect(),
        }
    }

    /// The values of a report's columns.
    pub fn values(self, report: &Report) -> Vec<Value> {
        let value = |(_, value): (Cow<'static, str>, Value)| value;
        match self {
            Self::AwrParser => parser(Some(report)).into_iter().map(value).collect(),
            Self::AwrInfo => info(Some(report)).into_iter().map(value).collect(),
        }
    }
}

/// Names and values side by side, so that they cannot get out of step.
type Columns = Vec<(Cow<'static, str>, Value)>;

fn parser(report: Option<&Report>) -> Columns {
    let mut columns: Columns = Vec::new();
    let mut add = |name: Cow<'static, str>, value: &dyn Fn(&Report) -> Value| {
        columns.push((name, report.map_or(Value::Absent, value)));
    };
    let word = |name: &'static str| move |report: &Report| Value::from(report.word(name));
    let figure = |name: &'static str| move |report: &Report| Value::from(report.reading(name));
    add("Filename".into(), &|report| Value::Text(report.file.clone()));
    add("Database Name".into(), &word("db_name"));
    add("Instance Number".into(), &figure("inst_num"));
    add("Instance Name".into(), &word("instance"));
    add("Database Version".into(), &word("version"));
    add("Cluster".into(), &|report| {
        Value::from(report.word("rac").map(|rac| if rac == "YES" { "Y" } else { "N" }))
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
    add("Write IOPS".into(), &|r| less(r, "derived.write_iops", "derived.redo_iops"));
    add("Redo IOPS".into(), &figure("derived.redo_iops"));
    add("All Write IOPS".into(), &figure("derived.write_iops"));
    add("Total IOPS".into(), &|r| sum(r, "derived.read_iops", "derived.write_iops"));
    add("Read Throughput (MiB/sec)".into(), &figure("derived.read_mib_per_s"));
    add("Write Throughput (MiB/sec)".into(), &|r| {
        less(r, "derived.write_mib_per_s", "derived.redo_mib_per_s")
    });
    add("Redo Throughput (MiB/sec)".into(), &figure("derived.redo_mib_per_s"));
    add("All Write Throughput (MiB/sec)".into(), &figure("derived.write_mib_per_s"));
    add("Total Throughput (MiB/sec)".into(), &|r| {
        sum(r, "derived.read_mib_per_s", "derived.write_mib_per_s")
    });
    add("DB CPU Time (s)".into(), &figure("time_model_s.DB CPU"));
    add("DB CPU %DBTime".into(), &|r| share(r, r.reading("time_model_s.DB CPU")));
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
        event(&mut add, name, &|report| derive::background_event(report, name));
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
    let any_event = |report: &Report, starts: &[&str]| {
        let lists = [&report.foreground_events, &report.background_events];
        let found =
            lists.into_iter().flatten().any(|event| starts.iter().any(|start| event.name.starts_with(start)));
        Value::Text(if found { "Y" } else { "N" }.to_owned())
    };
    add("Data Guard Flag".into(), &|r| {
        any_event(r, &["LNS ", "LGWR-LNS", "Redo Transport", "ARCH wait on SENDREQ"])
    });
    add("Exadata Flag".into(), &|r| any_event(r, &["cell smart", "cell single block", "cell multiblock"]));
    for (name, class_name) in CLASSES {
        class(&mut add, &format!("Wait Class {name}"), class_name);
    }
    columns
}

/// What takes a column: its name, and how its value is had.
type Add<'a> = dyn FnMut(Cow<'static, str>, &dyn Fn(&Report) -> Value) + 'a;

fn class(add: &mut Add<'_>, name: &str, class: &str) {
    let find = |report: &Report| report.wait_classes.iter().find(|event| event.name == class).cloned();
    four(add, name, &find);
}

fn event(add: &mut Add<'_>, name: &str, find: &dyn Fn(&Report) -> Option<&Event>) {
    four(add, name, &|report| find(report).cloned());
}

/// Waits, time, latency and share of an event or a class.
fn four(add: &mut Add<'_>, name: &str, find: &dyn Fn(&Report) -> Option<Event>) {
    let of = |report: &Report, part: &dyn Fn(&Event) -> Option<Reading>| {
        Value::from(find(report).and_then(|event| part(&event)))
    };
    add(format!("{name} Waits").into(), &|r| of(r, &|event| event.waits));
    add(format!("{name} Time (s)").into(), &|r| of(r, &|event| event.time_s));
    add(format!("{name} Latency (ms)").into(), &|r| of(r, &|event| event.mean_s().map(milli)));
    add(format!("{name} %DBTime").into(), &|r| share(r, find(r).and_then(|event| event.time_s)));
}

fn top_events(add: &mut Add<'_>) {
    for rank in 0..5 {
        let name = format!("Top5 Event{}", rank + 1);
        let of = |report: &Report, part: &dyn Fn(&Event) -> Value| {
            report.top_events.get(rank).map_or(Value::Absent, part)
        };
        add(format!("{name} Name").into(), &|r| of(r, &|event| Value::Text(event.name.clone())));
        add(format!("{name} Class").into(), &|r| of(r, &|event| Value::from(event.class.as_deref())));
        add(format!("{name} Waits").into(), &|r| of(r, &|event| Value::from(event.waits)));
        add(format!("{name} Time (s)").into(), &|r| of(r, &|event| Value::from(event.time_s)));
        add(format!("{name} Average Time (ms)").into(), &|r| {
            of(r, &|event| Value::from(event.mean_s().map(milli)))
        });
        add(format!("{name} %DBTime").into(), &|r| of(r, &|event| Value::from(event.share_pct)));
    }
}

fn milli(seconds: Reading) -> Reading {
    Reading { value: seconds.value * 1e3, step: seconds.step * 1e3 }
}

fn block_size(report: &Report) -> Value {
    let cache = report.reading("cache_bytes_begin.std_block_size").or_else(|| report.reading("block_size"));
    Value::from(cache)
}

/// Whether more sessions were active than there are CPUs.
fn busy(report: &Report) -> Value {
    match (report.value("derived.avg_active_sessions"), report.value("cpus")) {
        (Some(active), Some(cpus)) => Value::Text(if active > cpus { "Y" } else { "N" }.to_owned()),
        _ => Value::Absent,
    }
}

fn sum(report: &Report, a: &str, b: &str) -> Value {
    let both = report.reading(a).zip(report.reading(b));
    Value::from(both.map(|(a, b)| Reading { value: a.value + b.value, step: a.step + b.step }))
}

fn less(report: &Report, a: &str, b: &str) -> Value {
    let both = report.reading(a).zip(report.reading(b));
    Value::from(both.map(|(a, b)| Reading { value: (a.value - b.value).max(0.0), step: a.step + b.step }))
}

/// A time as a share of DB time, %.
fn share(report: &Report, seconds: Option<Reading>) -> Value {
    let db_time =
        report.value("time_model_s.DB time").or_else(|| report.value("db_time_min").map(|min| min * 60.0));
    let share = seconds.zip(db_time.filter(|time| *time > 0.0));
    Value::from(share.map(|(seconds, all)| Reading {
        value: 100.0 * seconds.value / all,
        step: 100.0 * seconds.step / all,
    }))
}

fn info(report: Option<&Report>) -> Columns {
    let number = |name: &str, value: Option<f64>, decimals: usize| {
        let text = value.map_or_else(String::new, |value| format!("{value:.decimals$}"));
        (Cow::Owned(name.to_owned()), Value::Text(text))
    };
    let of = |key: &str| report.and_then(|report| report.value(key));
    let whole = |name: &str, value: Option<f64>| number(name, value.map(f64::floor), 0);
    // Files of that tool end with the number of sessions: awr.txt.32
    let sessions = report.and_then(|r| Some(r.file.rsplit_once('.')?.1.to_owned()));
    let sessions = sessions.filter(|ending| ending.bytes().all(|b| b.is_ascii_digit())).unwrap_or_default();
    let cpu = of("load_profile_per_s.db_cpu_s")
        .map(|cpu| cpu + of("load_profile_per_s.background_cpu_s").unwrap_or(0.0));
    let per_s = |name: &str| of(&format!("instance_activity_per_s.{name}"));
    let mib = |value: Option<f64>| value.map(|bytes| bytes / 1_048_576.0);
    let latency = |event: Option<&Event>| event.and_then(Event::mean_s).map(|mean| mean.value * 1e6);
    let fg = |name: &str| latency(report.and_then(|report| report.event(name)));
    let bg = |name: &str| latency(report.and_then(|report| derive::background_event(report, name)));
    let top = report.and_then(|report| report.top_events.first());
    let top = top.map(|event| {
        let share = event.share_pct.map_or_else(String::new, |share| plain(share.value, share.step));
        format!("{} {share}", event.name)
    });
    vec![
        ("FILE".into(), Value::Text(report.map_or_else(String::new, |report| report.file.clone()))),
        ("SESSIONS".into(), Value::Text(sessions)),
        whole("ELAPSED", of("elapsed_min").map(|min| min * 60.0)),
        number("DB CPU", cpu, 1),
        number("DB Tm", of("load_profile_per_s.db_time_s"), 1),
        whole("EXECUTES", of("load_profile_per_s.executes")),
        whole("LIO", of("load_profile_per_s.logical_reads")),
        whole("PREADS", per_s("physical read IO requests")),
        number("READ_MBS", mib(per_s("physical read total bytes")), 1),
        whole("PWRITES", per_s("physical write IO requests")),
        number("WRITE_MBS", mib(per_s("physical write total bytes")), 0),
        number("REDO_MBS", mib(of("load_profile_per_s.redo_size")), 1),
        number("DFSR_LAT", fg("db file sequential read"), 0),
        number("DPR_LAT", fg("direct path read"), 0),
        number("DFPR_LAT", fg("db file parallel read"), 0),
        number("DFPW_LAT", bg("db file parallel write"), 0),
        number("LFPW_LAT", bg("log file parallel write"), 0),
        ("TOP WAIT".into(), Value::Text(top.unwrap_or_default())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_old_readers() {
        let names = Layout::AwrParser.names();
        assert_eq!(names.len(), 162);
        assert_eq!(names[..4], ["Filename", "Database Name", "Instance Number", "Instance Name"]);
        assert_eq!(names[47], "Top5 Event1 Name");
        assert_eq!(names[77], "db file sequential read Waits");
        assert_eq!(names.last().map(String::as_str), Some("Wait Class System I/O %DBTime"));
        assert_eq!(Layout::AwrInfo.names().len(), 18);
    }
}
