//! How much of a platform's capacity is used, as a table, and as charts and tables of a page.

use dyno_analyze::capacity::{CapacityReport, CapacityRow};
use dyno_analyze::next_lines;
use dyno_analyze::number::{figure, percent};

use crate::chart::{
    Category, Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, Quantity, SeriesKind, spread_kept,
};
use crate::content::next_text::next_text;
use crate::model::document::PageSection;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

/// Shares from which a cell is a warning, and from which it is bad, %.
const WARN_PCT: f64 = 60.0;
const BAD_PCT: f64 = 80.0;
/// Maximum number of components with their own chart over time.
const COURSES_MAX: usize = 4;
/// Maximum points of a line.
const POINTS_MAX: usize = 360;

/// A row for each component.
fn grid(capacity: &CapacityReport) -> Grid {
    let figures = |head: &str| GridHead::figures(head, "");
    let mut grid = Grid::new(vec![
        GridHead::tight("component"),
        GridHead::text("unit"),
        figures("used")
            .explained("at the peak: the busiest minute of a watch, or the mean over a report's interval"),
        figures("p95")
            .explained("95 % of single intervals are not above this; it may exceed the busiest minute"),
        figures("mean"),
        figures("knee").explained("the load from which more sessions add less throughput"),
        figures("most").explained("the highest value measured; ≥ where the real maximum may be higher"),
        figures("peak %").explained(
            "share of the knee, or of the highest value where there is no knee; ≤ where the real limit may be higher",
        ),
        figures("p95 %"),
        figures("mean %"),
        GridHead::text("reached in").explained(
            "days until peaks reach the knee, from the median daily slope, with its 95 % interval",
        ),
    ]);
    capacity.rows.iter().for_each(|row| grid.row(cells(row)));
    grid
}

fn cells(row: &CapacityRow) -> Vec<GridCell> {
    let share = row.of_knee_pct.as_ref().unwrap_or(&row.of_most_pct);
    let (at_least, at_most) = if row.is_sure() { ("", "") } else { ("≥", "≤") };
    let share_of = |pct: Option<f64>| GridCell::percent(pct).preceded_by(at_most);
    let tone = match row.fullness() {
        share if share >= BAD_PCT => "bad",
        share if share >= WARN_PCT => "warn",
        _ => "good",
    };
    vec![
        (&row.part).into(),
        (&row.unit).into(),
        GridCell::figure(row.used.peak),
        GridCell::figure(row.used.p95),
        GridCell::figure(row.used.mean),
        GridCell::figure(row.ceiling.knee),
        GridCell::figure(row.ceiling.most).preceded_by(if row.ceiling.is_most { "" } else { at_least }),
        share_of(Some(share.peak)).toned(tone),
        share_of(share.p95),
        share_of(Some(share.mean)),
        row.growth.words().into(),
    ]
}

/// The table for a terminal. Below it stand the times of the peaks, the differences, what could not be
/// compared, and the answer.
pub fn capacity_text(capacity: &CapacityReport, style: &Style) -> String {
    let mut out = String::new();
    if !capacity.rows.is_empty() {
        out.push_str(&grid(capacity).render(style));
    }
    for sentence in sides(capacity).into_iter().chain(note_lines(capacity)) {
        for line in wrap(&clean(&sentence), style.columns(), 4) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    for line in wrap(&clean(&capacity.line), style.columns(), 4) {
        out.push_str(&format!("{line}\n"));
    }
    out.push_str(&next_text(&capacity.next, style));
    out
}

/// What both sides are, and how they differ.
fn sides(capacity: &CapacityReport) -> Vec<String> {
    let mut all =
        vec![format!("measured on {}", capacity.measured_on), format!("in use: {}", capacity.used_on)];
    all.extend(capacity.differ.iter().map(|words| format!("≠ {words}")));
    all
}

/// Times of peaks and maxima, notes on them, and what is not compared.
fn note_lines(capacity: &CapacityReport) -> Vec<String> {
    let mut all = Vec::new();
    for row in &capacity.rows {
        all.push(format!("{}: peak in {}; the most in {}", row.part, row.used.peak_words(), row.ceiling.at));
    }
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &capacity.rows {
        for note in &row.notes {
            match notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, parts)) => parts.push(&row.part),
                None => notes.push((note, vec![&row.part])),
            }
        }
    }
    all.extend(notes.iter().map(|(note, parts)| format!("{}: {note}", parts.join(", "))));
    let mut left_out: Vec<(&str, Vec<&str>)> = Vec::new();
    for (part, why) in &capacity.left_out {
        match left_out.iter_mut().find(|(known, _)| known == why) {
            Some((_, parts)) => parts.push(part),
            None => left_out.push((why, vec![part])),
        }
    }
    all.extend(left_out.iter().map(|(why, parts)| format!("not compared: {}: {why}", parts.join(", "))));
    all
}

/// The parts of a page.
pub fn capacity_sections(capacity: &CapacityReport) -> Vec<PageSection> {
    let has_rows = !capacity.rows.is_empty();
    vec![
        PageSection {
            title: capacity.line.clone(),
            lines: sides(capacity).into_iter().chain(next_lines(&capacity.next)).collect(),
            charts: has_rows.then(|| bars(capacity)).into_iter().collect(),
            grids: if has_rows { vec![(String::new(), grid(capacity))] } else { Vec::new() },
            ..PageSection::default()
        },
        PageSection {
            title: "Use over time".to_owned(),
            charts: capacity.rows.iter().filter_map(course).take(COURSES_MAX).collect(),
            ..PageSection::default()
        },
        PageSection { title: "Notes".to_owned(), lines: note_lines(capacity), ..PageSection::default() },
    ]
}

/// Share of each component at the peak and on average.
fn bars(capacity: &CapacityReport) -> Chart {
    let category = |row: &CapacityRow| Category {
        label: format!("{}{}", row.part, if row.is_sure() { "" } else { " (≤)" }),
        group: String::new(),
    };
    let share = |row: &CapacityRow| *row.of_knee_pct.as_ref().unwrap_or(&row.of_most_pct);
    let share_series = |name: &str, style: usize, value: &dyn Fn(&CapacityRow) -> f64| ChartSeries {
        name: name.into(),
        kind: SeriesKind::Column,
        style,
        points: (0u32..)
            .zip(&capacity.rows)
            .map(|(at, row)| ChartPoint {
                hover: format!("{}: {} % {name}", row.part, percent(value(row))),
                ..ChartPoint::at(f64::from(at), value(row))
            })
            .collect(),
    };
    Chart {
        id: "capacity".into(),
        title: "Use of the measured capacity".into(),
        about: "Share of the knee (of the highest value where there is no knee; ≤ where the real limit may be higher): on average, and the increase at the peak."
            .into(),
        x: ChartAxis::ordinal("component", capacity.rows.iter().map(category).collect()),
        y: ChartAxis::linear("share", Quantity::Percent).reaching(100.0),
        series: vec![
            share_series("on average", 0, &|row| share(row).mean),
            share_series("more at the peak", 1, &|row| (share(row).peak - share(row).mean).max(0.0)),
        ],
        marks: vec![ChartMark { name: "100 %: the limit".into(), at: MarkAt::Y(100.0) }],
    }
}

/// A component's use over time, with its limit.
fn course(row: &CapacityRow) -> Option<Chart> {
    let points: Vec<ChartPoint> =
        row.used.course.iter().map(|(at_s, value)| ChartPoint::at(*at_s, *value)).collect();
    if points.len() < 2 {
        return None;
    }
    let limit = row.ceiling.knee.unwrap_or(row.ceiling.most);
    let name = format!("{} {} {}", row.of(), figure(limit), row.unit);
    Some(Chart {
        id: format!("use-{}", row.metric),
        title: format!("{} over time", crate::text::capital(&row.part)),
        about: format!("Each interval or report; the line is {name}."),
        x: ChartAxis::linear("time since the first interval", Quantity::Seconds),
        y: ChartAxis::linear(&format!("{}, {}", row.part, row.unit), Quantity::Plain("")).reaching(limit),
        series: vec![ChartSeries {
            name: row.part.clone(),
            kind: SeriesKind::Line,
            style: 0,
            points: spread_kept(&points, POINTS_MAX),
        }],
        marks: vec![ChartMark { name, at: MarkAt::Y(limit) }],
    })
}
