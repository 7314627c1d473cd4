//! Two intervals of databases' own reports against each other, line by line.

use axum::extract::Query;
use axum::response::{Html, Redirect};
use dyno_analyze::intervals::{Between, between};
use dyno_analyze::number::span_s;
use dyno_analyze::reading::{Change, Reading};
use dyno_record::{Repository, RunRecord};
use dyno_report::Differences;
use dyno_report::html::{Section, pages_in};
use dyno_report::text::clean;
use maud::html;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare;
use super::frame::{self, escaped, moment};
use crate::reply::Trouble;
use crate::state::Shared;

/// Two intervals, and whether differences of what is no change of one database are shown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Two {
    a: String,
    b: String,
    anyway: bool,
}

/// Two records of reports, held against each other.
struct Held {
    records: [RunRecord; 2],
    between: Between,
    differences: Differences,
}

fn held(repository: &Repository, two: &Two) -> Result<Held, Trouble> {
    let records = [repository.load(&two.a)?, repository.load(&two.b)?];
    let Some(between) = between(&records[0], &records[1]) else {
        return Err(Trouble::wrong(
            "one of the two is of no database's report",
            "the page of intervals has those that are",
        ));
    };
    let differences = Differences::of(&between, two.anyway);
    Ok(Held { records, between, differences })
}

/// `GET /awr/diff?a=ID&b=ID`: every line of two intervals with what lies between.
pub(crate) async fn page(
    shared: Shared,
    Query(two): Query<Two>,
) -> Result<Result<Html<String>, Redirect>, Trouble> {
    if two.a.is_empty() || two.b.is_empty() {
        return Ok(Err(Redirect::to("/awr")));
    }
    let page = shared.read(move |_, repository| {
        let held = held(repository, &two)?;
        let sides = [two.a.clone(), two.b.clone()];
        let query = compare::query(&sides);
        let is_hidden = !held.differences.are_shown();
        let actions = html! {
            @if is_hidden { a href={"/awr/diff?" (query) "&anyway=true"} { "Show differences all the same" } " " }
            a href={"/awr/diff?a=" (escaped(&two.b)) "&b=" (escaped(&two.a))} { "The other way round" } " "
            a href={"/compare?" (query)} { "As runs" } " "
            a href={"/api/v1/awr/diff?" (query)} { "JSON" } " "
            a href="/awr" { "All intervals" }
        };
        let mut sections = vec![sides_section(&held)];
        sections.extend(dyno_report::interval_sections(&held.between, held.differences));
        let about = "As the reports have them. A difference is B less A; = is less than their last digits tell.";
        Ok(pages_in(Some(&frame::around("/awr", &actions)), "Two intervals", about, &sections))
    });
    Ok(Ok(Html(page.await?)))
}

/// Which two they are, and why they are not alike.
fn sides_section(held: &Held) -> Section {
    let side = |name: &str, record: &RunRecord| {
        let seconds = record.window.as_ref().map_or(0.0, |window| window.seconds);
        let target = record.targets.first().map_or("", |target| target.url.as_str());
        format!("{name}: {} UTC, {}, {}", moment(&record.started_at), span_s(seconds), clean(target))
    };
    let mut lines = vec![side("A", &held.records[0]), side("B", &held.records[1])];
    let apart = held.between.apart.iter().map(|apart| dyno_report::text::capital(&apart.words()) + ".");
    lines.extend(apart);
    if !held.between.is_comparable() {
        let words = match held.differences.are_shown() {
            true => "The differences below are no change of one database.",
            false => "No difference is shown: it would be no change of one database.",
        };
        lines.push(words.to_owned());
    }
    Section { title: "A and B".to_owned(), lines, ..Section::default() }
}

/// Two intervals line by line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Compared {
    /// Whether differences are a change of one database; without that there are none, unless `anyway=true` asks for them.
    comparable: bool,
    /// Why the two are not alike.
    cautions: Vec<String>,
    /// The load profile.
    load_profile: Vec<LoadCompared>,
    /// Events among the top ones of either.
    events: Vec<EventCompared>,
    /// Parameters that differ.
    parameters: Vec<ParameterCompared>,
    /// Statistics per second.
    statistics: Vec<LineCompared>,
    /// Rows of other sections that changed by 20 % or more, at most three of each figure.
    sections: Vec<SectionCompared>,
}

/// A figure of both, and what lies between.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Sides {
    /// In A; absent where that does not list it.
    a: Option<f64>,
    /// In B.
    b: Option<f64>,
    /// B less A; absent where they do not differ by more than their last digits tell, or are not to be compared.
    difference: Option<f64>,
    /// The same in percent of A.
    change_pct: Option<f64>,
}

/// A line of the load profile.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LoadCompared {
    /// What it counts, with its unit.
    name: String,
    /// Per second.
    per_s: Sides,
    /// Per transaction.
    per_txn: Sides,
}

/// A wait event, or the CPU.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct EventCompared {
    /// The event.
    event: String,
    /// Its class.
    class: String,
    /// Time waited per second, s.
    waited_per_s: Sides,
    /// Waits per second.
    waits_per_s: Sides,
    /// Mean time of a wait, µs.
    mean_us: Sides,
    /// Whether the report without it lists all of its events.
    certain: bool,
}

/// A parameter's values.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ParameterCompared {
    /// The parameter.
    name: String,
    /// In A.
    a: Option<String>,
    /// In B.
    b: Option<String>,
}

/// A figure of one row of a section that changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SectionCompared {
    /// The section by the name of its list in the JSON of reports: `latches`.
    section: String,
    /// The row: `cache buffers chains`.
    row: String,
    /// The figure with its unit: `wait_s`.
    figure: String,
    /// Whether it is per second of the interval.
    per_s: bool,
    /// The figure in each report.
    value: Sides,
}

/// A line with one figure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LineCompared {
    /// What it counts.
    name: String,
    /// Per second.
    per_s: Sides,
}

/// The same as the page, for programs.
pub(crate) fn compared(repository: &Repository, two: &Two) -> Result<Compared, Trouble> {
    let held = held(repository, two)?;
    let shown = held.differences.are_shown();
    let sides = |of: &Change| {
        let value = |reading: Option<Reading>| reading.map(|reading| reading.value);
        Sides {
            a: value(of.a),
            b: value(of.b),
            difference: value(of.difference()).filter(|_| shown),
            change_pct: of.percent().filter(|_| shown),
        }
    };
    let Between { apart, load, events, statistics, sections, parameters } = &held.between;
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
    Ok(Compared {
        comparable: held.between.is_comparable(),
        cautions: apart.iter().map(|apart| apart.words()).collect(),
        load_profile: load.collect(),
        events: events.collect(),
        parameters: parameters.collect(),
        statistics: statistics.collect(),
        sections: sections.collect(),
    })
}
