//! The lists of a report as JSON, and the sources of its figures.

use std::collections::BTreeMap;

use serde::Serialize;

use super::AwrJsonOptions;
use super::figures::{AwrFigureTree, AwrJsonNumber, figure_tree};
use crate::number::PrintedNumber;
use crate::report::{
    AwrInstance, AwrReport, AwrSource, AwrStatement, DetailRow, IoRow, Segment, SegmentList, StatementList,
};

type Figures = BTreeMap<&'static str, AwrJsonNumber>;

fn figures(figures: &BTreeMap<&'static str, PrintedNumber>) -> Figures {
    figures.iter().map(|(name, number)| (*name, (*number).into())).collect()
}

/// The place of a figure or word.
#[derive(Serialize)]
pub(super) struct AwrSourceJson<'r> {
    caption: &'r str,
    line: u32,
    section: &'r str,
}

impl<'r> AwrSourceJson<'r> {
    pub(super) fn of(source: &'r AwrSource) -> Self {
        Self { caption: &source.caption, line: source.line, section: source.section.trim() }
    }
}

#[derive(Serialize)]
pub(super) struct AwrInstanceJson<'r> {
    #[serde(flatten)]
    figures: AwrFigureTree<'r>,
    inst_num: u32,
    #[serde(flatten)]
    words: BTreeMap<&'static str, &'r str>,
}

impl<'r> AwrInstanceJson<'r> {
    pub(super) fn of(instance: &'r AwrInstance) -> Self {
        let key = |name: &'static str| if name == "version" { "release" } else { name };
        Self {
            figures: figure_tree(&instance.figures, &[], &[]),
            inst_num: instance.number,
            words: instance.words.iter().map(|(name, word)| (key(name), word.as_str())).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct AwrDetailJson<'r> {
    #[serde(flatten)]
    figures: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'r str>,
    line: u32,
    name: &'r str,
}

impl<'r> AwrDetailJson<'r> {
    pub(super) fn of(row: &'r DetailRow, object_names: bool) -> Self {
        let object = row.object.as_deref().filter(|_| object_names);
        Self { figures: figures(&row.figures), object, line: row.line, name: &row.name }
    }
}

#[derive(Serialize)]
pub(super) struct AwrIoJson<'r> {
    #[serde(flatten)]
    figures: Figures,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pdb: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
}

/// The rows, with names of tablespaces and files if `named`.
pub(super) fn io<'r>(rows: &'r [IoRow], named: bool) -> Vec<AwrIoJson<'r>> {
    let to_json = |row: &'r IoRow| AwrIoJson {
        figures: figures(&row.figures),
        line: row.line,
        pdb: row.pdb.as_deref(),
        name: named.then_some(&row.name),
        file: row.file.as_deref().filter(|_| named),
    };
    rows.iter().map(to_json).collect()
}

/// Top statements in one order.
#[derive(Serialize)]
pub(super) struct AwrStatementListJson<'r> {
    order: &'r str,
    section: &'r str,
    statements: Vec<AwrStatementJson<'r>>,
}

#[derive(Serialize)]
struct AwrStatementJson<'r> {
    #[serde(flatten)]
    figures: Figures,
    id: &'r str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pdb: Option<&'r str>,
    /// The text, or null if the report has none; absent if texts are hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Option<&'r str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'r str>,
}

impl<'r> AwrStatementListJson<'r> {
    pub(super) fn of(list: &'r StatementList, report: &'r AwrReport, show: AwrJsonOptions) -> Self {
        let to_json = |statement: &'r AwrStatement| {
            let text = || report.statement_texts.get(&statement.id).or(statement.text.as_ref());
            AwrStatementJson {
                figures: figures(&statement.figures),
                id: &statement.id,
                line: statement.line,
                pdb: statement.pdb.as_deref(),
                text: show.sql_text.then(|| text().map(String::as_str)),
                module: statement.module.as_deref().filter(|_| show.sql_text),
            }
        };
        Self {
            order: &list.order,
            section: list.source.section.trim(),
            statements: list.statements.iter().map(to_json).collect(),
        }
    }
}

/// Top segments in one order.
#[derive(Serialize)]
pub(super) struct AwrSegmentListJson<'r> {
    order: &'r str,
    section: &'r str,
    segments: Vec<AwrSegmentJson<'r>>,
}

#[derive(Serialize)]
struct AwrSegmentJson<'r> {
    line: u32,
    share_pct: Option<AwrJsonNumber>,
    r#type: &'r str,
    value: Option<AwrJsonNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pdb: Option<&'r str>,
    #[serde(flatten)]
    names: Option<AwrSegmentNames<'r>>,
}

#[derive(Serialize)]
struct AwrSegmentNames<'r> {
    name: &'r str,
    owner: &'r str,
    subobject: &'r str,
    tablespace: &'r str,
}

impl<'r> AwrSegmentListJson<'r> {
    pub(super) fn of(list: &'r SegmentList, show: AwrJsonOptions) -> Self {
        let to_json = |segment: &'r Segment| {
            let Segment { name, owner, subobject, tablespace, .. } = segment;
            AwrSegmentJson {
                line: segment.line,
                share_pct: segment.share_pct.map(Into::into),
                r#type: &segment.kind,
                value: segment.value.map(Into::into),
                pdb: segment.pdb.as_deref(),
                names: show.object_names.then_some(AwrSegmentNames { name, owner, subobject, tablespace }),
            }
        };
        Self {
            order: &list.order,
            section: list.source.section.trim(),
            segments: list.segments.iter().map(to_json).collect(),
        }
    }
}
