//! The columns of SLOB's awr_info: eighteen fields.

use std::borrow::Cow;

use super::Columns;
use crate::derive;
use crate::format::plain;
use crate::report::{AwrReport, AwrWaitEvent};
use crate::row::AwrValue;

pub(super) fn info(report: Option<&AwrReport>) -> Columns {
    let number = |name: &str, value: Option<f64>, decimals: usize| {
        let text = value.map_or_else(String::new, |value| format!("{value:.decimals$}"));
        (Cow::Owned(name.to_owned()), AwrValue::Text(text))
    };
    let value_of = |key: &str| report.and_then(|report| report.value(key));
    let whole = |name: &str, value: Option<f64>| number(name, value.map(f64::floor), 0);
    // Files of that tool end with the number of sessions: awr.txt.32
    let sessions = report.and_then(|r| Some(r.file.rsplit_once('.')?.1.to_owned()));
    let sessions = sessions.filter(|ending| ending.bytes().all(|b| b.is_ascii_digit())).unwrap_or_default();
    let cpu = value_of("load_profile_per_s.db_cpu_s")
        .map(|cpu| cpu + value_of("load_profile_per_s.background_cpu_s").unwrap_or(0.0));
    let per_s = |name: &str| value_of(&format!("instance_activity_per_s.{name}"));
    let mib = |value: Option<f64>| value.map(|bytes| bytes / 1_048_576.0);
    let latency =
        |event: Option<&AwrWaitEvent>| event.and_then(AwrWaitEvent::mean_s).map(|mean| mean.value * 1e6);
    let fg = |name: &str| latency(report.and_then(|report| report.event(name)));
    let bg = |name: &str| latency(report.and_then(|report| derive::background_event(report, name)));
    let top = report.and_then(|report| report.top_events.first());
    let top = top.map(|event| {
        let share = event.share_pct.map_or_else(String::new, |share| plain(share.value, share.step));
        format!("{} {share}", event.name)
    });
    vec![
        ("FILE".into(), AwrValue::Text(report.map_or_else(String::new, |report| report.file.clone()))),
        ("SESSIONS".into(), AwrValue::Text(sessions)),
        whole("ELAPSED", value_of("elapsed_min").map(|min| min * 60.0)),
        number("DB CPU", cpu, 1),
        number("DB Tm", value_of("load_profile_per_s.db_time_s"), 1),
        whole("EXECUTES", value_of("load_profile_per_s.executes")),
        whole("LIO", value_of("load_profile_per_s.logical_reads")),
        whole("PREADS", per_s("physical read IO requests")),
        number("READ_MBS", mib(per_s("physical read total bytes")), 1),
        whole("PWRITES", per_s("physical write IO requests")),
        number("WRITE_MBS", mib(per_s("physical write total bytes")), 0),
        number("REDO_MBS", mib(value_of("load_profile_per_s.redo_size")), 1),
        number("DFSR_LAT", fg("db file sequential read"), 0),
        number("DPR_LAT", fg("direct path read"), 0),
        number("DFPR_LAT", fg("db file parallel read"), 0),
        number("DFPW_LAT", bg("db file parallel write"), 0),
        number("LFPW_LAT", bg("log file parallel write"), 0),
        ("TOP WAIT".into(), AwrValue::Text(top.unwrap_or_default())),
    ]
}
