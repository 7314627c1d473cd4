//! Converts reports to run records, with their figures under the names of Dyno's own metrics.

use std::collections::BTreeMap;

use dyno_awr::{AwrReport, AwrReportKind, parse_timestamp};
use dyno_campaign::awr_report;
use dyno_engine::data::mix;
use dyno_plan::engine::IMPORTED;
use dyno_plan::{PlanSource, TargetUrl};
use dyno_record::{
    AuditCheck, CheckStatus, Counters, Host, Identity, ImportSource, Role, RunRecord, StartGate, Status,
    TargetFacts, Waits, Window, rfc3339,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cli::MarkArgs;

/// Marks from the command line that apply to all records.
pub(crate) struct AwrImportMarks<'m> {
    pub(crate) marks: &'m MarkArgs,
    /// Whether the reports are steps of a rising load.
    pub(crate) ramp: bool,
}

/// The record of a report. A report always gets the same name, so that it is never imported twice.
pub(super) fn record(report: &AwrReport, marked: &AwrImportMarks<'_>) -> anyhow::Result<RunRecord> {
    let target = Some(IMPORTED.0[0].template.to_owned());
    let source = PlanSource { target, ..PlanSource::of(IMPORTED) };
    // A plan needs a database URL; the real one is set below.
    let mut plan = dyno_plan::read(&source)?;
    let instance =
        if report.kind == AwrReportKind::AwrRacGlobal { "*" } else { report.word("instance").unwrap_or("") };
    let database = report.word("db_name").unwrap_or("");
    plan.target.url = TargetUrl {
        scheme: "imported".into(),
        path: format!("{database}.{instance}").trim_matches('.').to_owned(),
        ..TargetUrl::default()
    };
    let seconds = report.value("elapsed_min").map(|min| min * 60.0);
    let (told, now) = (begin(report), Timestamp::now());
    let begin = told.unwrap_or(Timestamp::UNIX_EPOCH);
    let end = seconds.and_then(|s| begin.checked_add(SignedDuration::try_from_secs_f64(s).ok()?).ok());
    let url = plan.target.url.to_string();
    Ok(RunRecord {
        kind: dyno_record::RecordKind::Import,
        id: name(begin, report),
        started_at: rfc3339(begin),
        ended_at: rfc3339(end.unwrap_or(begin)),
        dyno_version: env!("CARGO_PKG_VERSION").into(),
        variant: marked.marks.variant.clone(),
        tags: marked.marks.tag.clone(),
        imported: Some(ImportSource {
            imported_at: rfc3339(now),
            undated: told.is_none(),
            ..imported(report)
        }),
        targets: vec![TargetFacts {
            url,
            engine: "oracle".into(),
            identity: identity(report),
            ..TargetFacts::default()
        }],
        hosts: vec![host(report)],
        gate: StartGate { sessions: sessions(report, marked.ramp), ..StartGate::default() },
        window: seconds.map(|seconds| Window {
            seconds,
            begin: rfc3339(begin),
            end: end.map(rfc3339).unwrap_or_default(),
            ..Window::default()
        }),
        metrics: awr_report::metrics(report),
        counters: Counters { native: native(report), ..Counters::default() },
        waits: Waits::Absent {
            absent: "a report counts waits and samples none; see the native counters".into(),
        },
        audit: vec![AuditCheck {
            check: "imported".into(),
            status: CheckStatus::Skipped,
            expected: String::new(),
            observed: String::new(),
            detail: format!("not audited: imported from {}", report.file),
        }],
        ..RunRecord::blank(Status::Imported, plan)
    })
}

/// Whether the report states the start of its interval; without it the record has no position in time.
pub(super) fn is_dated(report: &AwrReport) -> bool {
    begin(report).is_some()
}

/// Start of the report's interval. Reports state local time without a zone; records are in UTC, so the
/// printed time is kept as a label.
fn begin(report: &AwrReport) -> Option<Timestamp> {
    let of_instance = || report.instances.first().and_then(|instance| instance.words.get("begin_time"));
    let text = report.word("begin_time").or_else(|| of_instance().map(String::as_str));
    let at = text.and_then(parse_timestamp).and_then(|at| at.to_zoned(TimeZone::UTC).ok());
    at.map(|at| at.timestamp())
}

/// The record's name: the time, as in all records, and 48 bits of a hash that identifies the interval and the
/// instance. The text and the HTML form of a report get the same name.
fn name(begin: Timestamp, report: &AwrReport) -> String {
    let number = |name: &str| report.value(name).unwrap_or(0.0) as u64;
    let of_container = report.containers.first().filter(|_| report.kind == AwrReportKind::AwrPdb);
    let words =
        [report.kind.name(), report.word("db_name").unwrap_or(""), report.word("instance").unwrap_or("")];
    // Reports of several containers over one interval differ in nothing else.
    let words = words.into_iter().chain(of_container.map(|container| container.dbid.as_str()));
    let bytes = words.flat_map(|word| word.bytes().chain([0]));
    let named = bytes.fold(0u64, |sum, byte| mix(sum ^ u64::from(byte)));
    let numbers = ["dbid", "inst_num", "begin_snap", "end_snap"].map(number);
    let mixed = numbers.into_iter().fold(named, |all, next| mix(all ^ next));
    format!("{}-{:012x}", begin.strftime("%Y%m%d-%H%M%S"), mixed & ((1 << 48) - 1))
}

/// Working sessions if the reports are steps of a ramp: the number at the end of the file's name
/// (`awr.txt.32`, `ramp_32.html`), else the sessions connected at the start of the interval. A report does
/// not state which of its sessions worked, so other reports get no number.
fn sessions(report: &AwrReport, ramp: bool) -> u32 {
    let stem = |name: &str| name.trim_end_matches(".gz").to_owned();
    let digits_at_end = |text: &str| {
        let start = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        text[start..].parse::<u32>().ok().filter(|sessions| *sessions > 0)
    };
    let file = stem(&report.file);
    let of_ending =
        file.rsplit_once('.').and_then(|(_, ending)| digits_at_end(ending).filter(|_| is_number(ending)));
    let of_stem = || file.rsplit_once('.').and_then(|(stem, _)| digits_at_end(stem));
    let connected = || report.value("begin_sessions").map(|sessions| sessions as u32);
    match ramp {
        true => of_ending.or_else(of_stem).or_else(connected).unwrap_or(0),
        false => of_ending.unwrap_or(0),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Facts of the database host that the report states.
fn host(report: &AwrReport) -> Host {
    let gib = report.value("memory_gb").unwrap_or(0.0);
    Host {
        name: report.word("host").unwrap_or("").to_owned(),
        roles: [Role::Database].into(),
        os: report.word("platform").unwrap_or("").to_owned(),
        cpus: report.value("cpus").unwrap_or(0.0) as u32,
        memory_bytes: (gib * 1_073_741_824.0) as u64,
        ..Host::default()
    }
}

fn imported(report: &AwrReport) -> ImportSource {
    let mut labels: BTreeMap<String, String> =
        report.words.iter().map(|(name, word)| ((*name).to_owned(), word.text.clone())).collect();
    labels.insert("report_type".into(), report.kind.name().into());
    labels.insert("form".into(), report.form.name().into());
    for name in ["dbid", "inst_num", "begin_snap", "end_snap", "cpus", "cores", "sockets", "memory_gb"] {
        labels.extend(report.value(name).map(|value| (name.to_owned(), value.to_string())));
    }
    let part = (report.part > 0).then(|| u64::from(report.part));
    ImportSource {
        format: "awr".into(),
        file: report.file.clone(),
        line: part,
        labels,
        reported: Some(awr_report::reported(report)),
        ..ImportSource::default()
    }
}

fn identity(report: &AwrReport) -> Identity {
    let block_size = report.value("cache_bytes_begin.std_block_size").or_else(|| report.value("block_size"));
    let settings = report.parameters.iter().map(|parameter| (parameter.full_name(), parameter.value.clone()));
    Identity {
        product: "Oracle Database".into(),
        version: report.word("version").unwrap_or("").to_owned(),
        block_size: block_size.unwrap_or(0.0) as u64,
        settings: settings.collect(),
        ..Identity::default()
    }
}

/// Totals over the interval under Oracle's own names; names of wait times and counts have a prefix.
fn native(report: &AwrReport) -> BTreeMap<String, f64> {
    let activity = report.figures.iter().filter_map(|(name, figure)| {
        let name = name.strip_prefix("instance_activity.")?;
        Some((name.to_owned(), figure.reading.value))
    });
    let mut native: BTreeMap<String, f64> = activity.filter(|(_, value)| *value != 0.0).collect();
    for (kind, events) in
        [("foreground", &report.foreground_events), ("background", &report.background_events)]
    {
        for event in events {
            let figures = [("waits", event.waits), ("time_s", event.time_s)];
            for (what, reading) in figures {
                let value = reading.map(|reading| reading.value).filter(|value| *value != 0.0);
                native.extend(value.map(|value| (format!("{kind}_{what}.{}", event.name), value)));
            }
        }
    }
    native
}
