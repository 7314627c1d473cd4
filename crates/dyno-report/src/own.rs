//! What the transactions of a user's own workload came to: a minute, by class, and against what the workload holds them.

use dyno_analyze::yardstick::{ClassFigures, Figures, Judged, figures, room};
use dyno_record::{Invariant, OwnWorkload, RunRecord};

use crate::grid::{Cell, Grid, Head};
use crate::number::{ABSENT, count, figure, fixed, time_us};
use crate::result::has_result;
use crate::style::Style;
use crate::table::Table;
use crate::text::{clean, indent, wrap};

/// What it is, in a sentence.
pub const TITLE: &str = "transactions";

/// A row for each class of each workload; nothing where nothing is known of them.
pub fn transactions(record: &RunRecord) -> Option<Grid> {
    let all: Vec<(&OwnWorkload, Figures<'_>)> =
        record.workloads().filter_map(|own| Some((own, figures(record, own)?))).collect();
    let classes = || all.iter().flat_map(|(_, figures)| &figures.classes);
    classes().next()?;
    let has_limits = classes().any(|class| class.facts.limit_p90_s.is_some());
    let rolls_back = classes().any(|class| class.facts.may_roll_back);
    let polls = classes().any(|class| class.facts.polls);
    let tallies = classes().any(|class| class.facts.tally.is_some());
    let mut heads = vec![
        Head::text("transaction"),
        Head::figures("a minute", ""),
        Head::figures("rate", "/s"),
        Head::figures("share", "%").explained("of all that completed without error"),
        Head::figures("p50", ""),
        Head::figures("p90", ""),
    ];
    if has_limits {
        heads.push(Head::figures("limit", "").explained("of the 90th percentile, as far as it is judged"));
    }
    if rolls_back {
        heads.push(
            Head::figures("rolled back", "").explained("by a step; they count as completed without error"),
        );
    }
    if polls {
        heads
            .push(Head::figures("empty polls", "").explained("found nothing to do, and are no transactions"));
    }
    if tallies {
        heads.push(Head::figures("tallied", "").explained("by steps"));
    }
    heads
        .push(Head::figures("requests", "").explained("round trips of one, where each waits for its answer"));
    let mut grid = Grid::new(heads);
    for class in classes() {
        grid.row(row(class, has_limits, [rolls_back, polls, tallies]));
    }
    Some(grid)
}

fn row(class: &ClassFigures<'_>, has_limits: bool, [rolls_back, polls, tallies]: [bool; 3]) -> Vec<Cell> {
    let ClassFigures { facts, ops, share_pct, within } = class;
    let cell = |text: Option<String>| Cell::text(&text.unwrap_or_else(|| ABSENT.to_owned()));
    let mut cells = vec![
        Cell::text(&facts.class),
        cell(ops.map(|ops| figure(ops.rate_per_s * 60.0))),
        cell(ops.map(|ops| figure(ops.rate_per_s))),
        cell(share_pct.map(|share| fixed(share, 1))),
        cell(ops.and_then(|ops| ops.response_us.p50).map(time_us)),
        cell(ops.and_then(|ops| ops.response_us.p90).map(time_us)),
    ];
    if has_limits {
        let verdict = match within {
            None => "",
            Some(true) => " kept",
            Some(false) => " missed",
        };
        cells.push(cell(facts.limit_p90_s.map(|limit| format!("{}{verdict}", time_us(limit * 1e6)))));
    }
    if rolls_back {
        let told = ops.filter(|ops| facts.may_roll_back && ops.count > 0);
        cells.push(cell(told.map(|ops| {
            let share = ops.rolled_back as f64 * 100.0 / ops.count as f64;
            format!("{} ({} %)", count(ops.rolled_back), fixed(share, 2))
        })));
    }
    if polls {
        cells.push(cell(ops.filter(|_| facts.polls).map(|ops| count(ops.empty_polls))));
    }
    if tallies {
        let told = ops.zip(facts.tally.as_ref());
        cells.push(cell(told.map(|(ops, what)| format!("{} {}", count(ops.tallied), clean(what)))));
    }
    cells.push(Cell::text(&match facts.requests {
        (least, Some(most)) if least == most => count(least),
        (least, Some(most)) => format!("{}–{}", count(least), count(most)),
        (least, None) => format!("≥ {}", count(least)),
    }));
    cells
}

/// What there is to say of them beside the table.
pub fn sentences(record: &RunRecord) -> Vec<String> {
    let mut all = Vec::new();
    for own in record.workloads() {
        let Some(figures) = figures(record, own) else { continue };
        let all_a_minute = format!(
            "{} transactions a minute in all, {} a second",
            figure(figures.all_per_minute),
            figure(figures.all_per_minute / 60.0)
        );
        all.push(match figures.counted {
            Some((class, per_minute)) => {
                format!("{}: {} a minute; {all_a_minute}", clean(class), figure(per_minute))
            }
            None => all_a_minute,
        });
        all.extend(limits(own, &figures));
        all.extend(crowding(record, own));
        all.extend(conditions(own));
    }
    all
}

/// What is said of limits, and of what there is at most.
fn limits(own: &OwnWorkload, figures: &Figures<'_>) -> Option<String> {
    let yardstick = own.yardstick.as_ref()?;
    let most =
        format!("{} a minute for each of scale {}", fixed(yardstick.most_per_minute, 2), count(own.scale));
    match figures.judged {
        Judged::Nothing => None,
        Judged::NoRests => Some(
            "limits of response times are not judged, nor is efficiency: sessions do not rest".to_owned(),
        ),
        Judged::Sessions { are, wanted } => Some(format!(
            "limits of response times are not judged, nor is efficiency: there are {} sessions, and {} belong to this scale",
            count(are.into()),
            count(wanted)
        )),
        Judged::Yes => {
            let missed: Vec<&str> = figures
                .classes
                .iter()
                .filter(|class| class.within == Some(false))
                .map(|class| class.facts.class.as_str())
                .collect();
            let limits = match missed.is_empty() {
                true => "nine of ten response times are within the limit of each".to_owned(),
                false => format!("response times miss the limit: {}", clean(&missed.join(", "))),
            };
            let efficiency =
                figures.efficiency_pct.map_or_else(|| ABSENT.to_owned(), |share| fixed(share, 1));
            Some(format!("{limits}; efficiency {efficiency} % of {most}"))
        }
    }
}

/// A word where sessions wait for each other's rows.
fn crowding(record: &RunRecord, own: &OwnWorkload) -> Option<String> {
    let yardstick = own.yardstick.as_ref()?;
    let (busy, room) = room(record, own).filter(|(_, room)| *room < yardstick.roomy)?;
    Some(format!(
        "warning: {} sessions are busy over scale {}, {} for each where {} are room enough: waits for the same rows are what is measured",
        fixed(busy, 1),
        count(own.scale),
        fixed(room, 1),
        fixed(yardstick.roomy, 0)
    ))
}

/// What of the data held behind the run.
fn conditions(own: &OwnWorkload) -> Option<String> {
    let certain: Vec<&Invariant> = own.invariants.iter().filter(|one| one.is.is_some()).collect();
    let seconds = own.invariants_s?;
    let held = certain.iter().filter(|one| one.after.as_ref().ok() == one.is.as_ref()).count();
    (!certain.is_empty()).then(|| {
        format!(
            "{} of {} conditions hold, asked in one snapshot behind the window, {} s",
            held,
            certain.len(),
            fixed(seconds, 1)
        )
    })
}

/// All of it as text beneath a result; empty where nothing is known, or there is no result.
pub fn text(record: &RunRecord, style: &Style) -> String {
    let inner = Style { width: style.columns() - 2, ..*style };
    let Some(grid) = transactions(record).filter(|_| has_result(record)) else { return String::new() };
    indent(&format!("{}{}", Table::from(&grid).render(&inner), lines(record, &inner)))
}

/// The sentences as lines of text.
pub fn lines(record: &RunRecord, style: &Style) -> String {
    const LINES_MAX: usize = 4;
    let all = sentences(record);
    let lines = all.iter().flat_map(|sentence| wrap(sentence, style.columns(), LINES_MAX));
    lines.map(|line| format!("{line}\n")).collect()
}
