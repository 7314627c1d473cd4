//! Sheets of a workbook that explain its figures: the answer with the legend of the mark and the next steps, the
//! audit, and the plan and settings.

use dyno_record::RunRecord;

use crate::content::audit::{ORDER, check_label, mark};
use crate::content::facts::facts;
use crate::content::report::Report;
use crate::model::table::{Grid, GridCell, GridHead};

/// The answer in sentences: what, and its text. A command has a row of its own, to be copied.
pub(crate) fn summary_grid(report: &Report<'_>) -> Grid {
    let mut grid = Grid::new(vec![GridHead::text("what"), GridHead::text("text")]);
    let answer = report.answer();
    let mut add = |what: &str, text: &str| grid.row([GridCell::text(what), GridCell::text(text)]);
    add("answer", &answer.line);
    if report.has_answers() {
        add("state", report.answers.tone.word());
    }
    answer.more.iter().for_each(|line| add("note", line));
    if report.has_answers() {
        let is_alone = report.answers.curves.len() <= 1;
        crate::content::answer::evidence_lines(&report.answers, is_alone)
            .iter()
            .for_each(|line| add("note", line));
    }
    for line in report.next_lines() {
        match line.strip_prefix("next: ") {
            Some(step) => add("next", step.trim_end_matches(':')),
            None => add("command", line.trim_matches('`')),
        }
    }
    if let Some(legend) = report.legend() {
        add("mark", &legend);
    }
    if let Some((first, last)) = &report.seen.measured {
        add("measured (UTC)", &format!("{first} to {last}"));
    }
    add("runs", &report.seen.runs.to_string());
    if let Some(record) = report.close.as_ref().filter(|_| report.seen.runs > 1) {
        add(
            "details",
            &format!("figures of one run are those of {}, the run at the maximum", run_words(report, record)),
        );
    }
    grid
}

/// A run with its setting: `20261129-044614-e101 (4 sessions, 0 % updates)`.
fn run_words(report: &Report<'_>, record: &RunRecord) -> String {
    let point = report.points.points.iter().find(|point| point.runs.iter().any(|run| run.id == record.id));
    match point.map(|point| report.place(point)).filter(|place| !place.is_empty()) {
        Some(place) => format!("{} ({place})", record.id),
        None => record.id.clone(),
    }
}

/// The table of one run of several: each row names the run.
pub(crate) fn of_run(report: &Report<'_>, grid: Grid) -> Grid {
    let Some(record) = report.close.as_ref().filter(|_| report.seen.runs > 1) else { return grid };
    let words = run_words(report, record);
    let heads = std::iter::once(GridHead::text("run")).chain(grid.heads.iter().cloned()).collect();
    let mut named = Grid::new(heads);
    for (name, cells) in &grid.rows {
        let cells = std::iter::once(GridCell::text(&words)).chain(cells.iter().cloned());
        named.named_row(name, cells);
    }
    named
}

/// Failed checks and warnings of all runs, each once; then every check of the run shown.
pub(crate) fn audit_grid(report: &Report<'_>) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("check"),
        GridHead::text("result"),
        GridHead::text("runs"),
        GridHead::text("detail"),
    ]);
    let all = report.seen.runs;
    for check in report.seen.failed_checks.iter().filter(|_| all > 1) {
        for (result, runs) in [("fail", check.failed), ("warn", check.warned)] {
            if runs > 0 {
                let detail = format!("in {}: {}", check.ids.join(", "), check.detail);
                let runs = format!("{runs} of {all}");
                grid.row([check_label(&check.check), result.to_owned(), runs, detail].map(GridCell::from));
            }
        }
    }
    let Some(record) = report.shown() else { return grid };
    for status in ORDER {
        for check in record.audit.iter().filter(|check| check.status == status) {
            let (_, word, tone) = mark(status);
            grid.row([
                GridCell::from(check_label(&check.check)),
                GridCell::from(word).toned(tone),
                GridCell::from(run_words(report, record)),
                GridCell::from(check.detail.as_str()),
            ]);
        }
    }
    grid
}

/// Plan, settings and host of the run shown, and what differs between the runs.
pub(crate) fn settings_grid(report: &Report<'_>) -> Grid {
    let mut grid = Grid::new(vec![GridHead::text("of"), GridHead::text("name"), GridHead::text("value")]);
    let differing = report.seen.facts.differences(&[]);
    for difference in &differing {
        let values = difference.values.iter().map(|(value, runs)| format!("{value} ({runs} runs)"));
        grid.row(
            ["differs between runs", &difference.name, &values.collect::<Vec<_>>().join(", ")]
                .map(GridCell::text),
        );
    }
    for (fact, value) in report.shown().map(facts).unwrap_or_default() {
        let (of, name) = fact.split_once(' ').unwrap_or(("", &fact));
        grid.row([GridCell::text(of), GridCell::text(name), GridCell::text(&value)]);
    }
    grid
}
