//! Results of a custom workload's transactions: rate per minute, by class, and compared with the workload's
//! limits.

use dyno_analyze::reference_figure::{ClassFigures, ReferenceApplicability, WorkloadFigures, figures, room};
use dyno_record::{InvariantResult, RunRecord, WorkloadFacts};

use crate::content::result::has_result;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::number::{ABSENT, count, figure, fixed};
use crate::style::Style;
use crate::text::{clean, indent, wrap};

pub const TITLE: &str = "transactions";

/// A row for each class of each workload; `None` if nothing is known of them.
pub fn transactions(record: &RunRecord) -> Option<Grid> {
    let all: Vec<(&WorkloadFacts, WorkloadFigures<'_>)> =
        record.workloads().filter_map(|own| Some((own, figures(record, own)?))).collect();
    let classes = || all.iter().flat_map(|(_, figures)| &figures.classes);
    classes().next()?;
    let has_limits = classes().any(|class| class.facts.limit_p90_s.is_some());
    let rolls_back = classes().any(|class| class.facts.may_roll_back);
    let polls = classes().any(|class| class.facts.polls);
    let tallies = classes().any(|class| class.facts.tally.is_some());
    let mut heads = vec![
        GridHead::text("transaction"),
        GridHead::figures("a minute", ""),
        GridHead::figures("rate", "/s"),
        GridHead::figures("share", "%").explained("of all that completed without error"),
        GridHead::figures("p50", ""),
        GridHead::figures("p90", ""),
    ];
    if has_limits {
        heads.push(GridHead::figures("limit", "").explained("of the 90th percentile, if it is judged"));
    }
    if rolls_back {
        heads.push(
            GridHead::figures("rolled back", "")
                .explained("by a step of the transaction; counted as completed without error"),
        );
    }
    if polls {
        heads.push(
            GridHead::figures("empty polls", "")
                .explained("found nothing to do; not counted as transactions"),
        );
    }
    if tallies {
        heads.push(GridHead::figures("tallied", "").explained("by steps"));
    }
    heads.push(
        GridHead::figures("requests", "")
            .explained("round trips per transaction, if each waits for its answer"),
    );
    let mut grid = Grid::new(heads);
    for class in classes() {
        grid.row(row(class, has_limits, [rolls_back, polls, tallies]));
    }
    Some(grid)
}

fn row(class: &ClassFigures<'_>, has_limits: bool, [rolls_back, polls, tallies]: [bool; 3]) -> Vec<GridCell> {
    let ClassFigures { facts, ops, share_pct, within } = class;
    let words = |text: Option<String>| text.map_or_else(GridCell::absent, GridCell::from);
    let mut cells = vec![
        GridCell::text(&facts.class),
        GridCell::figure(ops.map(|ops| ops.rate_per_s * 60.0)),
        GridCell::figure(ops.map(|ops| ops.rate_per_s)),
        GridCell::fixed(*share_pct, 1),
        GridCell::time_us(ops.and_then(|ops| ops.response_us.p50)),
        GridCell::time_us(ops.and_then(|ops| ops.response_us.p90)),
    ];
    if has_limits {
        let verdict = match within {
            None => "",
            Some(true) => " kept",
            Some(false) => " missed",
        };
        cells.push(GridCell::time_us(facts.limit_p90_s.map(|limit| limit * 1e6)).followed_by(verdict));
    }
    if rolls_back {
        let rollback_ops = ops.filter(|ops| facts.may_roll_back && ops.count > 0);
        cells.push(words(rollback_ops.map(|ops| {
            let share = ops.rolled_back as f64 * 100.0 / ops.count as f64;
            format!("{} ({} %)", count(ops.rolled_back), fixed(share, 2))
        })));
    }
    if polls {
        cells.push(GridCell::count(ops.filter(|_| facts.polls).map(|ops| ops.empty_polls)));
    }
    if tallies {
        let tally = ops.zip(facts.tally.as_ref());
        cells.push(words(tally.map(|(ops, what)| format!("{} {}", count(ops.tallied), clean(what)))));
    }
    cells.push(match facts.requests {
        (least, Some(most)) if least == most => GridCell::count(least),
        (least, Some(most)) => format!("{}–{}", count(least), count(most)).into(),
        (least, None) => GridCell::count(least).preceded_by("≥ "),
    });
    cells
}

/// Sentences that accompany the table.
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
        all.extend(crowding_warning(record, own));
        all.extend(invariant_words(own));
    }
    all
}

/// Sentence on response time limits, and on efficiency relative to the reference maximum.
fn limits(workload: &WorkloadFacts, figures: &WorkloadFigures<'_>) -> Option<String> {
    let yardstick = workload.yardstick.as_ref()?;
    let most = format!(
        "{} a minute for each unit of scale {}",
        fixed(yardstick.most_per_minute, 2),
        count(workload.scale)
    );
    match figures.judged {
        ReferenceApplicability::Nothing => None,
        ReferenceApplicability::NoRests => {
            Some("response time limits and efficiency are not judged: sessions have no think time".to_owned())
        }
        ReferenceApplicability::Sessions { actual: are, required: wanted } => Some(format!(
            "response time limits and efficiency are not judged: there are {} sessions, and this scale needs {}",
            count(are.into()),
            count(wanted)
        )),
        ReferenceApplicability::Yes => {
            let missed: Vec<&str> = figures
                .classes
                .iter()
                .filter(|class| class.within == Some(false))
                .map(|class| class.facts.class.as_str())
                .collect();
            let limits = match missed.is_empty() {
                true => "90 % of response times are within the limit of each transaction".to_owned(),
                false => format!("response times miss the limit: {}", clean(&missed.join(", "))),
            };
            let efficiency =
                figures.efficiency_pct.map_or_else(|| ABSENT.to_owned(), |share| fixed(share, 1));
            Some(format!("{limits}; efficiency {efficiency} % of {most}"))
        }
    }
}

/// A warning if so many sessions are busy that the run mainly measures waits for the same rows.
fn crowding_warning(record: &RunRecord, workload: &WorkloadFacts) -> Option<String> {
    let yardstick = workload.yardstick.as_ref()?;
    let (busy, room) = room(record, workload).filter(|(_, room)| *room < yardstick.roomy)?;
    Some(format!(
        "warning: {} sessions are busy at scale {}, {} units for each where {} are enough: the run mainly measures waits for the same rows",
        fixed(busy, 1),
        count(workload.scale),
        fixed(room, 1),
        fixed(yardstick.roomy, 0)
    ))
}

/// Number of data conditions that held after the window; `None` if none was checked.
fn invariant_words(workload: &WorkloadFacts) -> Option<String> {
    let certain: Vec<&InvariantResult> = workload.invariants.iter().filter(|one| one.is.is_some()).collect();
    let seconds = workload.invariants_s?;
    let held = certain.iter().filter(|one| one.after.as_ref().ok() == one.is.as_ref()).count();
    (!certain.is_empty()).then(|| {
        format!(
            "{} of {} conditions hold, queried in one snapshot after the window, {} s",
            held,
            certain.len(),
            fixed(seconds, 1)
        )
    })
}

/// Table and sentences as text below a result; empty if nothing is known or there is no result.
pub fn text(record: &RunRecord, style: &Style) -> String {
    let inner = Style { width: style.columns() - 2, ..*style };
    let Some(grid) = transactions(record).filter(|_| has_result(record)) else { return String::new() };
    indent(&format!("{}{}", grid.render(&inner), lines(record, &inner)))
}

/// The sentences as lines of text.
pub fn lines(record: &RunRecord, style: &Style) -> String {
    const LINES_MAX: usize = 4;
    let all = sentences(record);
    let lines = all.iter().flat_map(|sentence| wrap(sentence, style.columns(), LINES_MAX));
    lines.map(|line| format!("{line}\n")).collect()
}
