//! A document: what pages, Markdown, CSV and workbooks render, each in its own way.

use crate::chart::Chart;
use crate::chart::plot::Plot;

use super::table::{Grid, GridCell};

/// What a page, Markdown or a workbook shows: sections under a title.
#[derive(Debug, Clone, Default)]
pub struct ReportDocument {
    pub title: String,
    /// A line below the title; may be empty.
    pub about: String,
    pub sections: Vec<PageSection>,
}

/// One part of a document.
#[derive(Debug, Clone, Default)]
pub struct PageSection {
    pub title: String,
    pub lines: Vec<String>,
    pub charts: Vec<Chart>,
    pub plots: Vec<Plot>,
    /// Its tables, each with a title, which may be empty.
    pub grids: Vec<(String, Grid)>,
}

/// Two printed pages for decision makers.
#[derive(Debug, Clone, Default)]
pub struct Sheets {
    pub title: String,
    /// Author, dates, platforms: name and value.
    pub facts: Vec<(&'static str, String)>,
    /// The answer in one sentence.
    pub line: String,
    /// The tone of the answer, if it is known.
    pub tone: Option<dyno_analyze::Tone>,
    /// The answer as a table.
    pub answer: Option<Grid>,
    /// Notes that qualify the answer.
    pub lines: Vec<String>,
    pub picture: Option<Picture>,
    /// Comparisons and costs: title, sentences, tables.
    pub parts: Vec<SheetPart>,
    /// What was not measured, with reasons.
    pub missing: Vec<String>,
}

/// A picture with its sentence.
#[derive(Debug, Clone)]
pub enum Picture {
    Chart(Box<Chart>),
    Plot(Plot),
}

/// A part of the sheets.
#[derive(Debug, Clone, Default)]
pub struct SheetPart {
    pub title: &'static str,
    pub lines: Vec<String>,
    pub grids: Vec<Grid>,
}

/// One of the few figures at the head of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// What it is, in a word or two.
    pub label: &'static str,
    /// The figure; its tone colors the tile.
    pub value: GridCell,
    /// What qualifies it; may be empty.
    pub note: String,
}
