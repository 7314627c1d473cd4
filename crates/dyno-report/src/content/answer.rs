//! Shows the summary: capacity, knee, bottleneck, confidence and headroom of each curve. A terminal, a page
//! and Markdown show the same words.

use dyno_analyze::answer::{CurvePoint, CurveSummaries, CurveSummary, Tone};
use dyno_analyze::attribution::mark;
use dyno_analyze::audit_warnings::AuditWarning;
use dyno_analyze::number::{ABSENT, count, figure, percent, sessions};
use dyno_analyze::points::phrase;
use dyno_analyze::{NextStep, after_watch, next_lines};
use dyno_record::RunRecord;
use serde::Serialize;

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, pad, wrap};

/// Maximum lines of one sentence in a terminal.
const LINES_MAX: usize = 6;
/// Maximum curves in a terminal; a page shows all.
const CURVES_MAX: usize = 40;
/// Maximum number of reasons without a result, and of doubtful checks, that are listed individually.
const LISTED_MAX: usize = 6;

/// The five words, in the order in which they are always shown.
const WORDS: [&str; 5] = ["capacity", "knee", "bottleneck", "confidence", "headroom"];

/// What imported figures do not say.
const NOT_STATED: &str = "not stated by the source";

/// Terminal color of a tone.
fn paint(tone: Tone) -> Paint {
    Paint::of_tone(tone_class(tone)).expect("each tone has a color")
}

/// CSS class of a tone.
pub(crate) fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Warned => "warn",
        Tone::Invalid => "bad",
        Tone::Imported => "foreign",
    }
}

/// A record as JSON with its answer first, so that a program that reads records also gets the answer.
#[derive(Debug, Serialize)]
pub struct Answered<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<CurveSummaries>,
    /// What to do next after a watch, which has no answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<NextStep>,
    #[serde(flatten)]
    record: &'r RunRecord,
}

impl<'r> Answered<'r> {
    /// The answer of one run. A watch and a calibration have none.
    pub fn of(record: &'r RunRecord) -> Self {
        let answers = CurveSummaries::has_summary(record).then(|| CurveSummaries::of_run(record));
        Self { answers, next: after_watch(record), record }
    }
}

/// The answers for a terminal; empty if there are none.
pub fn answer_text(answers: &CurveSummaries, style: &Style) -> String {
    let title = format!("summary: {}", answers.tone.word());
    let mut out = format!("{}\n", style.paint(paint(answers.tone), &title));
    match answers.curves.as_slice() {
        [] => {}
        [one] => out.push_str(&block(one, style)),
        many => out.push_str(&table(many, style)),
    }
    let alone = answers.curves.len() <= 1;
    for line in remaining_lines(answers, alone) {
        out.extend(
            wrap(&clean(&line), style.columns() - 2, LINES_MAX).iter().map(|line| format!("  {line}\n")),
        );
    }
    out
}

/// One answer, one line per word.
fn block(answer: &CurveSummary, style: &Style) -> String {
    let widest = WORDS.iter().map(|word| word.len()).max().unwrap_or_default() + 2;
    let mut out = String::new();
    for (word, said) in WORDS.iter().zip(answer_texts(answer)) {
        let lines = wrap(&clean(&said), style.columns().saturating_sub(widest + 2), LINES_MAX);
        for (at, line) in lines.iter().enumerate() {
            let head = if at == 0 { *word } else { "" };
            out.push_str(&format!("  {head}{}{line}\n", pad(widest - head.len())));
        }
    }
    out
}

/// The text after each of the five words.
fn answer_texts(answer: &CurveSummary) -> [String; 5] {
    [
        format!(
            "{}{} with {}{}",
            least(answer),
            value(answer),
            place(&answer.capacity),
            answer.within_words()
        ),
        match &answer.bend {
            Some(bend) => format!("at {}, with {}", place(bend), phrase(&answer.measure, bend.value)),
            None => answer.no_bend().to_owned(),
        },
        bottleneck(answer),
        answer.confidence_words(),
        headroom(answer),
    ]
}

/// Before the capacity: whether the requested rate was reached, so that the platform may do more.
pub(crate) fn least(answer: &CurveSummary) -> &'static str {
    if answer.limit.asked_per_s.is_some() { "at least " } else { "" }
}

/// The same in a column of figures.
fn least_sign(answer: &CurveSummary) -> &'static str {
    if answer.limit.asked_per_s.is_some() { "≥ " } else { "" }
}

fn value(answer: &CurveSummary) -> String {
    mark(phrase(&answer.measure, answer.capacity.value), answer.marked)
}

/// Number of sessions; imported figures may not state it.
fn place(at: &CurvePoint) -> String {
    match at.sessions {
        0 => "an unknown number of sessions".to_owned(),
        known => sessions(f64::from(known)),
    }
}

/// Whether the source of imported figures does not state the bottleneck.
fn is_unstated(answer: &CurveSummary) -> bool {
    answer.tone == Tone::Imported && answer.limit.evidence.is_empty()
}

/// The bottleneck with its evidence. What lowers the confidence is stated with the confidence.
/// The text after the word "bottleneck", which does not repeat it.
fn bottleneck(answer: &CurveSummary) -> String {
    let sentence = &answer.limit.sentence;
    let text = if is_unstated(answer) { NOT_STATED } else { sentence };
    text.strip_prefix("the bottleneck is ").unwrap_or(text).to_owned()
}

/// The bottleneck with its evidence and what lowers the confidence. For imported figures only what is known.
fn limit(answer: &CurveSummary) -> String {
    if is_unstated(answer) { NOT_STATED.to_owned() } else { answer.limit.full() }
}

fn headroom(answer: &CurveSummary) -> String {
    match answer.headroom_pct {
        Some(pct) => format!("{} % of {} unused", percent(pct), clean(&answer.limit.what)),
        None => "unknown: the utilization of the bottleneck cannot be measured".to_owned(),
    }
}

/// A table with the answers of several curves.
fn table(answers: &[CurveSummary], style: &Style) -> String {
    let common_measure = same_measure(answers);
    let unit = if common_measure == Some("ops_per_s") { "ops/s" } else { "" };
    let mut table = Grid::new(vec![
        GridHead::text("curve"),
        GridHead::figures("capacity", unit),
        GridHead::figures("sessions", "").spare(1),
        GridHead::figures("knee", "sessions"),
        GridHead::text("bottleneck"),
        GridHead::text("confidence"),
        GridHead::figures("headroom", "%"),
    ]);
    for answer in answers.iter().take(CURVES_MAX) {
        let number = |at: &CurvePoint| Some(at.sessions).filter(|sessions| *sessions > 0);
        let shown = |sessions: Option<u32>| sessions.map_or_else(|| ABSENT.into(), |n| count(n.into()));
        let capacity = match unit {
            "" => format!("{}{}", least(answer), value(answer)),
            _ => format!("{}{}", least_sign(answer), mark(figure(answer.capacity.value), answer.marked)),
        };
        table.row([
            GridCell::from(&answer.name).toned(tone_class(answer.tone)),
            capacity.into(),
            shown(number(&answer.capacity)).into(),
            shown(answer.bend.as_ref().and_then(number)).into(),
            answer.limit.short().into(),
            answer.confidence.word().into(),
            answer.headroom_pct.map_or_else(|| ABSENT.to_owned(), percent).into(),
        ]);
    }
    if answers.len() > CURVES_MAX {
        table.note(
            &format!("and {} more curves; `dyno report` lists them", answers.len() - CURVES_MAX),
            "dim",
        );
    }
    let shown = &answers[..answers.len().min(CURVES_MAX)];
    if shown.iter().any(|answer| answer.limit.short().ends_with('?')) {
        table.note("?: likely, not certain", "dim");
    }
    if shown.iter().any(|answer| answer.limit.asked_per_s.is_some()) && !unit.is_empty() {
        table.note("≥: at least; the requested rate was reached", "dim");
    }
    table.render(style)
}

/// The measure of all curves, if they share one.
fn same_measure(answers: &[CurveSummary]) -> Option<&str> {
    let first = answers.first()?.measure.as_str();
    answers.iter().all(|answer| answer.measure == first).then_some(first)
}

/// Lines below the answers, and what to do next.
pub(crate) fn remaining_lines(answers: &CurveSummaries, alone: bool) -> Vec<String> {
    let mut lines = evidence_lines(answers, alone);
    lines.extend(next_lines(&answers.next));
    lines
}

/// Lines below the answers: for several curves their limits with evidence and doubtful checks; and runs without
/// a result.
pub(crate) fn evidence_lines(answers: &CurveSummaries, alone: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if !alone {
        lines.extend(limits(&answers.curves));
        lines.extend(doubts(&answers.curves));
        lines.extend(reservations(&answers.curves));
    }
    let without: usize = answers.without_result.iter().map(|out| out.runs).sum();
    for out in answers.without_result.iter().take(LISTED_MAX) {
        let runs =
            if out.runs == 1 { "1 run has".into() } else { format!("{} runs have", count(out.runs as u64)) };
        lines.push(format!("{runs} no result: {}", out.reason));
    }
    let listed_runs: usize = answers.without_result.iter().take(LISTED_MAX).map(|out| out.runs).sum();
    if without > listed_runs {
        lines.push(format!(
            "{} more runs have no result, for other reasons",
            count((without - listed_runs) as u64)
        ));
    }
    lines.extend(answers.notes.iter().cloned());
    lines
}

/// Each limit once, with the evidence of its best curve, and the number of curves it applies to.
fn limits(answers: &[CurveSummary]) -> Vec<String> {
    let mut limit_groups: Vec<(&CurveSummary, usize)> = Vec::new();
    for answer in answers {
        match limit_groups.iter_mut().find(|(known, _)| known.limit.by == answer.limit.by) {
            Some((most, curves)) => {
                *curves += 1;
                if answer.capacity.value > most.capacity.value && answer.measure == most.measure {
                    *most = answer;
                }
            }
            None => limit_groups.push((answer, 1)),
        }
    }
    let describe = |(answer, curves): &(&CurveSummary, usize)| match curves {
        1 => format!("{}: {}", answer.name, limit(answer)),
        _ => format!("{curves} curves, as {}: {}", answer.name, limit(answer)),
    };
    limit_groups.iter().map(describe).collect()
}

/// Audit warnings of all curves; each check appears once.
fn doubts(answers: &[CurveSummary]) -> Option<String> {
    let runs: usize = answers.iter().map(|answer| answer.runs).sum();
    let mut all: Vec<AuditWarning> = Vec::new();
    for doubt in answers.iter().flat_map(|answer| &answer.doubts) {
        match all.iter_mut().find(|known| known.check == doubt.check) {
            Some(known) => known.runs += doubt.runs,
            None => all.push(doubt.clone()),
        }
    }
    all.sort_by_key(|doubt| std::cmp::Reverse(doubt.runs));
    let mut words: Vec<String> = all.iter().take(LISTED_MAX).map(|doubt| doubt.words(runs)).collect();
    if all.len() > LISTED_MAX {
        let more = all.len() - LISTED_MAX;
        words.push(format!("{more} more {}", if more == 1 { "check" } else { "checks" }));
    }
    (!words.is_empty()).then(|| format!("audit warnings of all runs: {}", words.join(", ")))
}

/// What else lowers the tone of each curve, so that "with warnings" names its reasons.
fn reservations(answers: &[CurveSummary]) -> Option<String> {
    let reserved = answers.iter().map(|answer| (&answer.name, answer.reservations()));
    let reserved: Vec<_> = reserved.filter(|(_, words)| !words.is_empty()).collect();
    let words = reserved.iter().take(LISTED_MAX).map(|(name, words)| format!("{name}: {}", words.join(", ")));
    let mut words: Vec<String> = words.collect();
    if reserved.len() > LISTED_MAX {
        words.push(format!("{} more curves", reserved.len() - LISTED_MAX));
    }
    (!words.is_empty()).then(|| format!("warning: {}", words.join("; ")))
}

/// The answers as a table for Markdown and spreadsheets, with the evidence after each.
pub fn answer_grid(answers: &CurveSummaries) -> Grid {
    let mut grid = answer_short(answers);
    grid.heads.push(GridHead::text("evidence, repeats, doubts"));
    for ((_, cells), answer) in grid.rows.iter_mut().zip(&answers.curves) {
        cells.push(GridCell::text(&format!("{}; {}", bottleneck(answer), answer.why.join("; "))));
    }
    grid
}

/// The answers as a table for pages, which show the evidence below.
pub(crate) fn answer_short(answers: &CurveSummaries) -> Grid {
    let named = answers.curves.iter().any(|answer| !answer.name.is_empty());
    let mut heads = if named { vec![GridHead::tight("curve")] } else { Vec::new() };
    heads.extend([
        GridHead::figures("capacity", "")
            .explained("the highest value reached; of a search, within its limits"),
        GridHead::figures("sessions", ""),
        GridHead::figures("knee", "sessions")
            .explained("the load from which more sessions add less throughput than on average"),
        GridHead::tight("bottleneck").explained("a question mark: likely, not certain"),
        GridHead::tight("confidence"),
        GridHead::figures("headroom", "%").explained("unused share of the limiting component"),
        GridHead::tight("state"),
    ]);
    let mut grid = Grid::new(heads);
    for answer in &answers.curves {
        let sessions = |at: &CurvePoint| (at.sessions > 0).then(|| u64::from(at.sessions));
        let mut cells = if named { vec![GridCell::text(&answer.name)] } else { Vec::new() };
        cells.extend([
            capacity_cell(answer),
            GridCell::count(sessions(&answer.capacity)),
            GridCell::count(answer.bend.as_ref().and_then(sessions)),
            GridCell::text(&answer.limit.short()),
            GridCell::text(answer.confidence.word()),
            GridCell::percent(answer.headroom_pct),
            GridCell::text(answer.tone.word()).toned(tone_class(answer.tone)),
        ]);
        grid.row(cells);
    }
    grid
}

/// The capacity with its unit.
pub(crate) fn capacity_cell(answer: &CurveSummary) -> GridCell {
    GridCell::phrase(&answer.measure, answer.capacity.value).marked(answer.marked).preceded_by(least(answer))
}

/// The words of one answer with their texts, for the head of a page, which has the capacity as a tile.
pub(crate) fn pairs(answer: &CurveSummary) -> Vec<(&'static str, String)> {
    WORDS.into_iter().zip(answer_texts(answer)).skip(1).collect()
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{RunRecord, Status};

    use super::*;

    fn run(id: &str, sessions: u32, updates: u32) -> RunRecord {
        let mut record = fixture::postgres();
        record.id = id.into();
        record.audit.clear();
        record.plan.run.sessions_per_schema = sessions;
        record.plan.workload.update_pct = updates;
        record
    }

    fn lines(text: &str, width: usize) {
        for line in text.lines() {
            assert!(crate::text::width(line) <= width, "{width}: {line}");
        }
    }

    #[test]
    fn run_conclusion_is_five_labeled_lines() {
        for width in [80, 100, 140] {
            let text = answer_text(&CurveSummaries::of_run(&run("a", 4, 20)), &Style { width, color: false });
            lines(&text, width);
            assert!(text.starts_with("summary: audited\n  capacity    "), "{text}");
            for word in WORDS {
                assert_eq!(text.matches(&format!("\n  {word} ")).count(), 1, "{word}: {text}");
            }
        }
    }

    #[test]
    fn unknown_bottleneck_is_named_once() {
        let mut answers = CurveSummaries::of_run(&run("a", 4, 20));
        answers.curves[0].limit.sentence = "the bottleneck is unknown: waits are unknown".to_owned();
        let text = answer_text(&answers, &Style { width: 100, color: false });
        assert!(text.contains("\n  bottleneck  unknown: waits are unknown\n"), "{text}");
    }

    #[test]
    fn answer_lists_curves_and_counts_runs_without_result_by_reason() {
        let mut records: Vec<RunRecord> = [0, 20, 50]
            .into_iter()
            .flat_map(|pct| [1, 2].map(|s| run(&format!("{pct}-{s}"), s, pct)))
            .collect();
        for id in ["x", "y"] {
            let reasons = vec!["a counter went backwards".to_owned()];
            records.push(RunRecord { status: Status::Invalid, reasons, ..run(id, 1, 0) });
        }
        let answers = CurveSummaries::of(&dyno_analyze::points(&records));
        assert_eq!((answers.curves.len(), answers.tone), (3, Tone::Warned));
        for width in [80, 100, 140] {
            let text = answer_text(&answers, &Style { width, color: false });
            lines(&text, width);
            assert!(
                text.contains("\n  2 runs have no result: invalid: a counter went backwards\n"),
                "{text}"
            );
            assert!(text.contains("update_pct 50 %"), "{text}");
        }
        let grid = answer_grid(&answers);
        assert_eq!((grid.rows.len(), grid.heads.len()), (3, 9));
        assert!(grid.rows.iter().all(|(_, cells)| cells.len() == 9 && cells[7].tone == "good"));
    }

    #[test]
    fn escapes_in_names_stay_text() {
        let mut records = [run("a", 1, 0), run("b", 1, 0)];
        records[0].variant = Some("\u{1b}[31mred\u{7}".into());
        let text = answer_text(&CurveSummaries::of(&dyno_analyze::points(&records)), &Style::default());
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.contains("red"), "{text:?}");
    }
}
