//! Converts a report to JSON: figures are nested by the first part of their names, lists become
//! arrays.

mod events;
mod figures;
mod lists;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::issue::Issue;
use crate::report::{AwrParameter, AwrReport, AwrReportKind, Container};
use events::{AwrEventJson, AwrHistogramJson};
pub(crate) use figures::serialize_value;
use figures::{AwrFigureJson, AwrFigureTree, figure_tree};
use lists::{
    AwrDetailJson, AwrInstanceJson, AwrIoJson, AwrSegmentListJson, AwrSourceJson, AwrStatementListJson,
};

/// Figures of the load profile that the output always has; absent ones are null.
const LOAD_PROFILE: [&str; 14] = [
    "redo_size",
    "logical_reads",
    "block_changes",
    "physical_reads",
    "physical_writes",
    "read_io_requests",
    "write_io_requests",
    "read_io_mb",
    "write_io_mb",
    "user_calls",
    "parses",
    "hard_parses",
    "executes",
    "transactions",
];

/// Words that the output always has; absent ones are null.
const HEAD: [&str; 9] =
    ["db_name", "instance", "version", "rac", "cdb", "host", "platform", "begin_time", "end_time"];

/// Counts that the output always has; absent ones are null.
const COUNTS: [&str; 5] = ["cpus", "begin_snap", "end_snap", "elapsed_min", "db_time_min"];

/// Which names and texts of the application are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AwrJsonOptions {
    /// Texts and modules of statements.
    pub sql_text: bool,
    /// Names of owners, tables, tablespaces and files.
    pub object_names: bool,
}

/// The members of a report's JSON. Of several with one name, the last one is kept.
#[derive(Serialize)]
struct AwrReportJson<'r> {
    file: &'r str,
    report_type: &'static str,
    #[serde(flatten)]
    words: BTreeMap<&'static str, Option<&'r str>>,
    #[serde(flatten)]
    figures: AwrFigureTree<'r>,
    top_events_title: Option<&'r str>,
    top_events: Vec<AwrEventJson<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instances: Option<Vec<AwrInstanceJson<'r>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wait_classes: Vec<AwrEventJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreground_wait_classes: Vec<AwrEventJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreground_events: Vec<AwrEventJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    background_events: Vec<AwrEventJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    all_events: Vec<AwrEventJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    histograms: Vec<AwrHistogramJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    io_functions: Vec<AwrIoJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    io_filetypes: Vec<AwrIoJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    io_function_filetypes: Vec<AwrIoJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tablespaces: Vec<AwrIoJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<AwrIoJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sql: Vec<AwrStatementListJson<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    segments: Vec<AwrSegmentListJson<'r>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    containers: &'r [Container],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    parameters: &'r [AwrParameter],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    issues: &'r [Issue],
    #[serde(flatten)]
    details: BTreeMap<&'static str, Vec<AwrDetailJson<'r>>>,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    plans: &'r BTreeMap<String, BTreeSet<String>>,
    sources: BTreeMap<&'r str, AwrSourceJson<'r>>,
}

impl<'r> AwrReportJson<'r> {
    fn of(report: &'r AwrReport, show: AwrJsonOptions) -> Self {
        let is_cluster = report.kind == AwrReportKind::AwrRacGlobal;
        let mut words: BTreeMap<_, _> = HEAD.into_iter().map(|name| (name, None)).collect();
        words.extend(report.words.iter().map(|(name, word)| (*name, Some(word.text.as_str()))));
        let mut figures = figure_tree(&report.figures, &COUNTS, &[("load_profile_per_s", &LOAD_PROFILE)]);
        if is_cluster {
            // The counts of CPUs are the hosts'; a cluster has none.
            figures.insert("cpus", AwrFigureJson::Number(None));
        }
        let details = report.details.iter().map(|(list, rows)| {
            (*list, rows.iter().map(|row| AwrDetailJson::of(row, show.object_names)).collect())
        });
        let word_sources = report.words.iter().map(|(name, word)| (*name, &word.source));
        let figure_sources = report.figures.iter().map(|(name, figure)| (name.as_str(), &figure.source));
        Self {
            file: &report.file,
            report_type: report.kind.name(),
            words,
            figures,
            top_events_title: report.top_events_title.as_deref(),
            top_events: report.top_events.iter().map(AwrEventJson::of).collect(),
            instances: is_cluster.then(|| report.instances.iter().map(AwrInstanceJson::of).collect()),
            wait_classes: events::with_sources(&report.wait_classes),
            foreground_wait_classes: events::with_sources(&report.foreground_wait_classes),
            foreground_events: events::with_sources(&report.foreground_events),
            background_events: events::with_sources(&report.background_events),
            all_events: events::with_sources(&report.all_events),
            histograms: report.histograms.iter().map(AwrHistogramJson::of).collect(),
            io_functions: lists::io(&report.io_functions, true),
            io_filetypes: lists::io(&report.io_filetypes, true),
            io_function_filetypes: lists::io(&report.io_function_filetypes, true),
            tablespaces: lists::io(&report.tablespaces, show.object_names),
            files: lists::io(&report.files, show.object_names),
            sql: report.statements.iter().map(|list| AwrStatementListJson::of(list, report, show)).collect(),
            segments: report.segments.iter().map(|list| AwrSegmentListJson::of(list, show)).collect(),
            containers: &report.containers,
            parameters: &report.parameters,
            issues: &report.issues,
            details: details.collect(),
            format: report.form.name(),
            part: Some(report.part).filter(|part| *part > 0),
            plans: &report.plans,
            sources: word_sources
                .chain(figure_sources)
                .map(|(name, source)| (name, AwrSourceJson::of(source)))
                .collect(),
        }
    }
}

/// A whole report as JSON; keys are sorted alphabetically.
pub fn to_json(report: &AwrReport, show: AwrJsonOptions) -> Value {
    serde_json::to_value(AwrReportJson::of(report, show)).expect("all keys are texts")
}
