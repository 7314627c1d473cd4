//! Compares two intervals of database reports, line by line.

use axum::extract::Query;
use axum::response::{Html, Redirect};
use dyno_analyze::intervals::{IntervalComparison, compare_intervals};
use dyno_analyze::number::span_s;
use dyno_analyze::reading::{PrintedNumber, ReadingChange};
use dyno_record::{Repository, RunRecord};
use dyno_report::Differences;
use dyno_report::html::pages_in;
use dyno_report::model::PageSection;
use dyno_report::text::clean;
use maud::html;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare;
use super::frame::{self, escaped, moment};
use crate::reply::HttpError;
use crate::state::SharedServeState;

/// The two intervals, and whether differences are shown even if the intervals are not comparable.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AwrDiffQuery {
    a: String,
    b: String,
    anyway: bool,
}

/// The records of two reports, and their comparison.
struct Held {
    records: [RunRecord; 2],
    between: IntervalComparison,
    differences: Differences,
}

fn load_pair(repository: &Repository, two: &AwrDiffQuery) -> Result<Held, HttpError> {
    let records = [repository.load(&two.a)?, repository.load(&two.b)?];
    let Some(between) = compare_intervals(&records[0], &records[1]) else {
        return Err(HttpError::bad_request(
            "one of the two is not a database report",
            "the page of intervals lists the database reports",
        ));
    };
    let differences = Differences::of(&between, two.anyway);
    Ok(Held { records, between, differences })
}

/// Answers `GET /awr/diff?a=ID&b=ID`: every line of two intervals with its difference.
pub(crate) async fn page(
    shared: SharedServeState,
    Query(two): Query<AwrDiffQuery>,
) -> Result<Result<Html<String>, Redirect>, HttpError> {
    if two.a.is_empty() || two.b.is_empty() {
        return Ok(Err(Redirect::to("/awr")));
    }
    let page = shared.read(move |_, repository| {
        let held = load_pair(repository, &two)?;
        let sides = [two.a.clone(), two.b.clone()];
        let query = compare::query(&sides);
        let is_hidden = !held.differences.are_shown();
        let actions = html! {
            @if is_hidden { a href={"/awr/diff?" (query) "&anyway=true"} { "Show differences anyway" } " " }
            a href={"/awr/diff?a=" (escaped(&two.b)) "&b=" (escaped(&two.a))} { "Swap A and B" } " "
            a href={"/compare?" (query)} { "As runs" } " "
            a href={"/api/v1/awr/diff?" (query)} { "JSON" } " "
            a href="/awr" { "All intervals" }
        };
        let mut sections = vec![sides_section(&held)];
        sections.extend(dyno_report::interval_sections(&held.between, held.differences));
        let about =
            "As printed in the reports. A difference is B − A; = means smaller than their last digits show.";
        Ok(pages_in(Some(&frame::around("/awr", &actions)), "Two intervals", about, &sections))
    });
    Ok(Ok(Html(page.await?)))
}

/// Shows which intervals are compared, and why they are not comparable.
fn sides_section(held: &Held) -> PageSection {
    let side = |name: &str, record: &RunRecord| {
        let seconds = record.window.as_ref().map_or(0.0, |window| window.seconds);
        let target = record.targets.first().map_or("", |target| target.url.as_str());
        format!("{name}: {} UTC, {}, {}", moment(&record.started_at), span_s(seconds), clean(target))
    };
    let mut lines = vec![side("A", &held.records[0]), side("B", &held.records[1])];
    let apart = held.between.mismatches.iter().map(|apart| dyno_report::text::capital(&apart.words()) + ".");
    lines.extend(apart);
    if !held.between.is_comparable() {
        let words = match held.differences.are_shown() {
            true => "The differences below are not changes of one database.",
            false => "No differences are shown: they would not be changes of one database.",
        };
        lines.push(words.to_owned());
    }
    PageSection { title: "A and B".to_owned(), lines, ..PageSection::default() }
}

/// The comparison of two intervals, line by line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct WebAwrDiff {
    /// Whether both intervals belong to the same database, so that differences are changes. Otherwise there
    /// are no differences, unless `anyway=true` requests them.
    comparable: bool,
    /// Why the two intervals are not comparable; empty if they are.
    cautions: Vec<String>,
    /// The lines of the load profile.
    load_profile: Vec<LoadCompared>,
    /// Events that are among the top events of A or B.
    events: Vec<EventCompared>,
    /// Parameters whose values differ between A and B.
    parameters: Vec<ParameterCompared>,
    /// Instance statistics per second of the interval.
    statistics: Vec<LineCompared>,
    /// Rows of other sections that changed by 20 % or more, at most three for each figure.
    sections: Vec<SectionCompared>,
}

/// A figure in both reports, and its difference.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Sides {
    /// Value in A; absent if A does not list it.
    a: Option<f64>,
    /// Value in B; absent if B does not list it.
    b: Option<f64>,
    /// B minus A; absent if the last printed digits do not show a difference, or if the intervals are not
    /// comparable.
    difference: Option<f64>,
    /// The difference in percent of A.
    change_pct: Option<f64>,
}

/// A line of the load profile.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LoadCompared {
    /// Name of the figure, with its unit.
    name: String,
    /// The figure per second of the interval.
    per_s: Sides,
    /// The figure per transaction of the interval.
    per_txn: Sides,
}

/// A wait event, or CPU time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct EventCompared {
    /// Name of the wait event.
    event: String,
    /// Name of its wait class.
    class: String,
    /// Time waited per second, s.
    waited_per_s: Sides,
    /// Number of waits per second.
    waits_per_s: Sides,
    /// Mean time of a wait, µs.
    mean_us: Sides,
    /// Whether the report that does not list the event lists all of its events.
    certain: bool,
}

/// The values of a parameter in both reports.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ParameterCompared {
    /// Name of the parameter that differs.
    name: String,
    /// Value in A; absent if A does not list it.
    a: Option<String>,
    /// Value in B; absent if B does not list it.
    b: Option<String>,
}

/// A changed figure of a row in a section.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SectionCompared {
    /// The section's name in the JSON of reports, such as `latches`.
    section: String,
    /// Name of the row, such as `cache buffers chains`.
    row: String,
    /// Name of the figure with its unit, such as `wait_s`.
    figure: String,
    /// Whether the figure is per second of the interval.
    per_s: bool,
    /// The figure in both reports.
    value: Sides,
}

/// A statistic with a single figure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LineCompared {
    /// Name of the statistic, as the database has it.
    name: String,
    /// The statistic per second of the interval.
    per_s: Sides,
}

/// Returns the content of the page for programs.
pub(crate) fn compared(repository: &Repository, two: &AwrDiffQuery) -> Result<WebAwrDiff, HttpError> {
    let held = load_pair(repository, two)?;
    let shown = held.differences.are_shown();
    let sides = |of: &ReadingChange| {
        let value = |reading: Option<PrintedNumber>| reading.map(|reading| reading.value);
        Sides {
            a: value(of.a),
            b: value(of.b),
            difference: value(of.difference()).filter(|_| shown),
            change_pct: of.percent().filter(|_| shown),
        }
    };
    let IntervalComparison { mismatches: apart, load, events, statistics, sections, parameters } =
        &held.between;
    let load = load.iter().map(|line| LoadCompared {
        name: line.name.clone(),
        per_s: sides(&line.per_s),
        per_txn: sides(&line.per_txn),
    });
    let events = events.iter().map(|line| EventCompared {
        event: line.name.clone(),
        class: line.class.clone(),
        waited_per_s: sides(&line.waited),
        waits_per_s: sides(&line.waits),
        mean_us: sides(&line.mean_us),
        certain: line.is_certain,
    });
    let parameters = parameters.iter().map(|line| ParameterCompared {
        name: line.name.clone(),
        a: line.a.clone(),
        b: line.b.clone(),
    });
    let statistics =
        statistics.iter().map(|line| LineCompared { name: line.name.clone(), per_s: sides(line) });
    let sections = sections.iter().map(|line| SectionCompared {
        section: line.section.clone(),
        row: line.row.clone(),
        figure: line.figure.clone(),
        per_s: line.per_s,
        value: sides(&line.change),
    });
    Ok(WebAwrDiff {
        comparable: held.between.is_comparable(),
        cautions: apart.iter().map(|apart| apart.words()).collect(),
        load_profile: load.collect(),
        events: events.collect(),
        parameters: parameters.collect(),
        statistics: statistics.collect(),
        sections: sections.collect(),
    })
}
