//! The tests of a suite on a page, one below the other.

use dyno_analyze::conclusion::suite::{Suite, Tested};
use dyno_analyze::number;
use maud::{Markup, html};

use crate::chart::{Axis, Chart, Kind, Point, Quantity, Series};
use crate::markup::slug;
use crate::suite::{costs, events, scale_out, steps};
use crate::text::clean;

use super::{charts, grid};

/// Every test that was run: its steps, what an operation costs, what was waited for.
pub(super) fn tests(suite: &Suite) -> Markup {
    html! {
        @if let Some(scale_out) = scale_out(suite) {
            h3 { "More targets beside one" }
            (grid::table(&scale_out, "more targets beside one"))
        }
        @for test in suite.tests.iter().filter(|test| !test.steps.is_empty()) {
            details id={"test-" (slug(&test.page.id))} {
                summary { strong { (clean(&test.page.id)) } " " (clean(&test.page.title)) }
                p { "It stresses " (clean(&test.page.stresses)) "." }
                @for note in &test.notes { p class="dim" { (clean(note)) } }
                (charts::charts(&chart(test).into_iter().collect::<Vec<_>>()))
                (grid::table(&steps(test), &format!("steps of {}", clean(&test.page.id))))
                h4 { "One operation costs" }
                (grid::table(&costs(test), &format!("costs of {}", clean(&test.page.id))))
                @if let Some(step) = test.steps.iter().rev().find(|step| !step.events.is_empty()) {
                    h4 { "Top timed events with " (number::sessions(f64::from(step.sessions))) }
                    (grid::table(&events(step), &format!("events of {}", clean(&test.page.id))))
                }
            }
        }
    }
}

/// The key figure along the sessions, where there are points enough for a curve.
fn chart(test: &Tested) -> Option<Chart> {
    let keyed: Vec<(f64, f64)> =
        test.steps.iter().filter_map(|step| Some((f64::from(step.sessions), step.key?))).collect();
    if keyed.len() < 3 {
        return None;
    }
    let unit = test.page.words(0.0).1;
    let sessions: Vec<f64> = keyed.iter().map(|(sessions, _)| *sessions).collect();
    let point = |(sessions, value): &(f64, f64)| {
        let hover = format!("{}: {}", number::sessions(*sessions), test.page.words(*value).0);
        Point { hover, ..Point::at(*sessions, *value) }
    };
    let points = keyed.iter().map(point).collect();
    Some(Chart {
        id: format!("suite-{}", slug(&test.page.id)),
        title: test.page.title.clone(),
        about: format!("{} by sessions", test.page.title),
        x: Axis::log("sessions", Quantity::Plain("")).ticks_at(sessions),
        y: Axis::linear(&unit, Quantity::Plain("")),
        series: vec![Series { name: "measured".into(), kind: Kind::Line, style: 0, points }],
        marks: Vec::new(),
    })
}
