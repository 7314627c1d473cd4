//! Renders tables as HTML.

use maud::{Markup, html};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::text::clean;

/// Columns from which a phone shows each row as a block of labeled figures.
const STACK_FROM: usize = 3;
/// Columns from which paper needs smaller text, and still smaller text.
const WIDE_FROM: [(usize, &str); 2] = [(16, " wider"), (11, " wide")];

/// The table in a box that scrolls horizontally if it is too wide.
pub(super) fn table(grid: &Grid, name: &str) -> Markup {
    let grid = grid.on_pages();
    let rows = html! { @for (name, cells) in &grid.rows { (row(&grid.heads, name, cells)) } };
    table_of(&grid.heads, name, &rows)
}

/// A table of rows that are already markup.
pub(super) fn table_of(heads: &[GridHead], name: &str, rows: &Markup) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(name) {
            table class=[table_class(heads.len())] {
                thead {
                    tr {
                        @for head in heads {
                            th scope="col" class=[head.figures.then_some("n")] title=[(!head.explained.is_empty()).then_some(&head.explained)] {
                                (clean(&head.label))
                                @if !head.unit.is_empty() { br; small { (clean(&head.unit)) } }
                            }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

/// CSS class of a table by its number of columns; `None` for a narrow one.
fn table_class(columns: usize) -> Option<String> {
    let wide = WIDE_FROM.iter().find(|(from, _)| columns >= *from).map_or("", |(_, class)| class);
    (columns >= STACK_FROM).then(|| format!("stack{wide}"))
}

/// Label and unit of a column, for a row that stands alone.
fn label(head: &GridHead) -> String {
    let unit = if head.unit.is_empty() { String::new() } else { format!(", {}", clean(&head.unit)) };
    format!("{}{unit}", clean(&head.label))
}

pub(super) fn row(heads: &[GridHead], name: &str, cells: &[GridCell]) -> Markup {
    // A single cell is a title for the rows below it, or a note on the row above it.
    if let ([title], true) = (cells, heads.len() > 1) {
        return html! {
            tr {
                @if title.tone.is_empty() { th scope="rowgroup" colspan=(heads.len()) { (clean(&title.text)) } }
                @else { td class=(title.tone) colspan=(heads.len()) { (clean(&title.text)) } }
            }
        };
    }
    html! {
        tr id=[(!name.is_empty()).then_some(name)] {
            @for (cell, head) in cells.iter().zip(heads) {
                td data-label=[(heads.len() >= STACK_FROM).then(|| label(head))] class=(class(head, cell)) {
                    @if cell.link.is_empty() { (clean(&cell.text)) }
                    @else { a href={"#" (cell.link)} { (clean(&cell.text)) } }
                }
            }
        }
    }
}

/// CSS class of a cell.
fn class(head: &GridHead, cell: &GridCell) -> String {
    match (head.figures, head.tight) {
        (true, _) if cell.tone.is_empty() => "n".to_owned(),
        (true, _) => format!("n {}", cell.tone),
        (false, true) => format!("t {}", cell.tone),
        (false, false) => cell.tone.to_owned(),
    }
}

pub(super) fn pairs(pairs: &[(String, String)]) -> Markup {
    html! {
        dl {
            @for (name, value) in pairs { div { dt { (clean(name)) } dd { (clean(value)) } } }
        }
    }
}
