//! Writes sections of a page in the other formats: a comparison as Markdown, CSV and a workbook.

use std::fmt::Write as _;

use super::csv::{cell_field, field};
use super::markdown::{table, text};
use crate::model::document::{PageSection, ReportDocument};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

/// Maximum lines of a sentence in a terminal.
const SENTENCE_LINES_MAX: usize = 8;

/// The sections for a terminal, without their charts.
pub fn sections_text(sections: &[PageSection], style: &Style) -> String {
    let mut out = String::new();
    for section in sections {
        let _ = writeln!(out, "\n{}", style.paint(Paint::Head, &clean(&section.title).to_uppercase()));
        for line in &section.lines {
            let is_command = line.starts_with('`');
            // A command is copied, so it stays on one line.
            let lines = if is_command {
                vec![clean(line.trim_matches('`'))]
            } else {
                wrap(&clean(line), style.columns(), SENTENCE_LINES_MAX)
            };
            lines.iter().for_each(|line| {
                let _ = writeln!(out, "{}", if is_command { format!("  {line}") } else { line.clone() });
            });
        }
        for (at, (name, grid)) in section.grids.iter().enumerate() {
            if at > 0 || !section.lines.is_empty() {
                out.push('\n');
            }
            // The first head of most tables is their name.
            let is_named = grid.heads.first().is_some_and(|head| head.label.eq_ignore_ascii_case(name));
            if !name.is_empty() && !is_named {
                let _ = writeln!(out, "{}", clean(name));
            }
            out.push_str(&grid.render(style));
        }
    }
    out
}

pub fn document_markdown(document: &ReportDocument) -> String {
    sections_markdown(&document.title, &document.sections)
}

pub fn sections_markdown(title: &str, sections: &[PageSection]) -> String {
    let mut out = format!("# {}\n", text(title));
    for section in sections {
        let _ = write!(out, "\n## {}\n\n", text(&section.title));
        for line in &section.lines {
            let _ = writeln!(out, "{}\n", text(line));
        }
        for (name, grid) in &section.grids {
            if !name.is_empty() {
                let _ = write!(out, "### {}\n\n", text(name));
            }
            let _ = writeln!(out, "{}", table(grid));
        }
    }
    out
}

/// The last table, which has every figure, as CSV.
pub fn sections_csv(sections: &[PageSection]) -> String {
    let Some((_, grid)) = sections.iter().flat_map(|section| &section.grids).next_back() else {
        return String::new();
    };
    let grid = grid.on_pages();
    let line = |fields: Vec<String>| format!("{}\r\n", fields.join(","));
    let heads = grid.heads.iter().map(|head| match head.unit.as_str() {
        "" => field(&head.label),
        unit => field(&format!("{}, {unit}", head.label)),
    });
    let mut out = line(heads.collect());
    for (_, cells) in &grid.rows {
        // A signed number is not a formula.
        out.push_str(&line(cells.iter().map(cell_field).collect()));
    }
    out
}
