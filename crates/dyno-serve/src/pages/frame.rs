//! The frame of every page: head and navigation; reports get the same frame.

use dyno_analyze::number::{figure, sessions};
use dyno_record::{RunState, RunSummary};
use dyno_report::html::PageFrame;
use dyno_report::text::clean;
use maud::{DOCTYPE, Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::card_chart::CardChart;

/// Links of the navigation: path and name.
const VIEWS: [(&str, &str); 6] = [
    ("/", "Runs"),
    ("/new", "New"),
    ("/jobs", "Jobs"),
    ("/history", "History"),
    ("/awr", "AWR"),
    ("/compare", "Compare"),
];

const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Creates a page; `current_path` is its path in the navigation.
pub(crate) fn page(title: &str, current_path: &str, body: &Markup) -> Markup {
    page_with(title, current_path, &html! {}, body)
}

/// Creates a page with additional elements in its head, such as a script.
pub(crate) fn page_with(title: &str, current_path: &str, head: &Markup, body: &Markup) -> Markup {
    let title = clean(title);
    bare(
        &format!("{title} · Dyno"),
        &html! { (links()) (head) },
        &html! { (top(current_path)) main id="main" { h1 { (title) } (body) } },
    )
}

/// Creates a page without navigation, for users who have not logged in.
pub(crate) fn bare(title: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                // Without this link, browsers request an icon at another path.
                link rel="icon" href="data:,";
                (head)
            }
            body { (body) }
        }
    }
}

fn links() -> Markup {
    html! {
        link rel="stylesheet" href="/assets/report.css";
        link rel="stylesheet" href="/assets/app.css";
    }
}

fn top(current_path: &str) -> Markup {
    html! {
        a class="skip" href="#main" { "Skip to content" }
        nav class="site" aria-label="views" {
            a class="home" href="/" { "Dyno" }
            @for (address, name) in VIEWS {
                a href=(address) aria-current=[(address == current_path).then_some("page")] { (name) }
            }
        }
    }
}

/// Creates the frame around a report: `current_path` is its path in the navigation, `actions` appear below it.
pub(crate) fn around(current_path: &str, actions: &Markup) -> PageFrame {
    let head = html! { link rel="icon" href="data:,"; (links()) script src="/assets/report.js" defer {} };
    let top = html! { (top(current_path)) div id="main" class="actions" { (actions) } };
    PageFrame { head: head.into_string(), top: top.into_string() }
}

/// Escapes text for a part of a URL.
pub(crate) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, KEPT).to_string()
}

/// Formats a time as `2026-03-21 14:25:01`.
pub(crate) fn moment(rfc3339: &str) -> String {
    clean(rfc3339.get(..19).unwrap_or(rfc3339)).replace('T', " ")
}

/// A run in a list to choose from: `2026-03-21 14:25:01, PostgreSQL 16.2, 8 sessions, 31,204 operations/s`.
pub(crate) fn run_words(run: &RunSummary) -> String {
    let update_share = run.update_pct.filter(|pct| *pct > 0).map(|pct| format!("{pct} % updates"));
    let parts = [
        Some(moment(&run.started_at)),
        Some(run.database.clone().unwrap_or_else(|| run.engine.clone())),
        (run.sessions > 0).then(|| sessions(f64::from(run.sessions))),
        update_share,
        run.ops_per_s.map(|rate| format!("{} operations/s", figure(rate))),
        run.variant.clone(),
        Some(run.status.name().to_owned()).filter(|_| run.status != RunState::Valid),
    ];
    let tags = run.tags.iter().map(|tag| format!("#{tag}"));
    parts.into_iter().flatten().chain(tags).collect::<Vec<_>>().join(", ")
}

/// Number of colors of curves.
const COLORS: usize = 8;

/// Maximum number of curves that are named.
const NAMED_MAX: usize = 4;

/// Draws the curves of a card without axes, from zero, with their names below.
pub(crate) fn sparkline(chart: &CardChart) -> Markup {
    const WIDTH: f64 = 160.0;
    const HEIGHT: f64 = 34.0;
    let rates = chart.curves.iter().flat_map(|curve| &curve.points).map(|(_, rate)| *rate);
    let most = rates.filter(|rate| rate.is_finite()).fold(0.0, f64::max);
    let place = |(at, rate): &(f64, f64)| {
        let height = if most > 0.0 { rate.max(0.0) / most } else { 0.0 };
        (3.0 + at * (WIDTH - 6.0), HEIGHT - 3.0 - height * (HEIGHT - 6.0))
    };
    let line = |points: &[(f64, f64)]| {
        let places = points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}"));
        places.collect::<Vec<_>>().join(" ")
    };
    let label = format!("{} {}", chart.measure, chart.over);
    html! {
        @if !chart.curves.is_empty() {
            svg class="spark" viewBox="0 0 160 34" preserveAspectRatio="none" role="img" aria-label=(label) {
                @for (number, curve) in chart.curves.iter().enumerate() {
                    @if chart.dots || curve.points.len() == 1 {
                        // A line of no length has round ends: a dot, whatever the width of the card is.
                        @for (x, y) in curve.points.iter().map(place) {
                            path class={"dot l" (number % COLORS)} d=(format!("M{x:.1} {y:.1}h0")) {}
                        }
                    } @else { polyline class={"l" (number % COLORS)} points=(line(&curve.points)) {} }
                }
            }
            p class="dim over" {
                (label)
                @for (number, curve) in chart.curves.iter().enumerate().take(NAMED_MAX).filter(|(_, curve)| !curve.name.is_empty()) {
                    " "
                    span {
                        svg class="key" viewBox="0 0 10 10" aria-hidden="true" { rect class={"f" (number % COLORS)} width="10" height="10" {} }
                        " " (clean(&curve.name))
                    }
                }
                @if chart.curves.len() > NAMED_MAX { " and " (chart.curves.len() - NAMED_MAX) " more" }
            }
        }
    }
}
