//! Writes sections of a page in the other formats: a comparison as Markdown, CSV and a workbook.

use std::fmt::Write as _;

use super::csv::{cell_field, field};
use super::markdown::{table, text};
use crate::model::document::{PageSection, ReportDocument};

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
