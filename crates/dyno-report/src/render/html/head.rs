//! The head of a report page: the answer in a sentence, four tiles, the main chart, and what to do next.

use maud::{Markup, html};

use crate::content::answer::{self, tone_class};
use crate::content::report::{Report, ReportAnswer};
use crate::content::tiles::tiles;
use crate::model::document::Tile;
use crate::text::clean;

use super::charts::charts;
use super::grid;
use super::prose::prose;

pub(super) fn answer(report: &Report<'_>, answer: &ReportAnswer) -> Markup {
    let answers = &report.answers;
    let has_answers = report.has_answers();
    let next = report.next_lines();
    let tiles = tiles(report);
    html! {
        p class="line" {
            (prose(&answer.line))
            @if has_answers { " " span class={"state " (tone_class(answers.tone))} { (answers.tone.word()) } }
        }
        @if !tiles.is_empty() { div class="tiles" { @for tile in &tiles { (tile_markup(tile)) } } }
        div class="front" {
            @if let Some(chart) = report.main_chart() { div class="main" { (charts([chart])) } }
            div {
                @if !next.is_empty() { div class="next" { @for line in &next { p { (prose(line)) } } } }
                @if let ([one], true) = (answers.curves.as_slice(), has_answers) {
                    dl class="five" { @for (word, said) in answer::pairs(one) { div { dt { (word) } dd { (clean(&said)) } } } }
                }
                @if has_answers { @for line in answer::evidence_lines(answers, answers.curves.len() == 1) { p { (prose(&line)) } } }
                @for line in &answer.more { p { (prose(line)) } }
            }
        }
        @if has_answers && answers.curves.len() > 1 { (grid::table(&answer::answer_short(answers), "answers")) }
        @if let Some(legend) = report.legend() { p class="legend dim" { (clean(&legend)) } }
    }
}

fn tile_markup(tile: &Tile) -> Markup {
    html! {
        div class="tile" {
            p class="dim" { (tile.label) }
            p class={"value " (tile.value.tone)} { (clean(&tile.value.text)) }
            @if !tile.note.is_empty() { p class="note dim" { (clean(&tile.note)) } }
        }
    }
}
