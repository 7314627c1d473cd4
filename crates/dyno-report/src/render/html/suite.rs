//! Sections of a page for a suite: table and small charts of each group, then the steps of each test.

use dyno_analyze::conclusion::suite::{SuiteResult, SuiteTestResult};
use dyno_analyze::number;
use maud::{Markup, html};

use crate::content::suite::{costs, events, group_grid, groups, scale_out, small, steps, test_chart};
use crate::markup::slug;
use crate::text::clean;

use super::{charts, grid};

/// Every test that was run: group, steps, cost per operation, wait events.
pub(super) fn tests(suite: &SuiteResult) -> Markup {
    html! {
        @let groups = groups(suite);
        @if !groups.is_empty() { p class="dim" { "Charts have one unit each. Each test name links to its steps." } }
        @for group in &groups {
            h3 id={"group-" (slug(group.name))} { (clean(group.title())) }
            (grid::table(&group_grid(group), &format!("tests of {}", clean(group.name))))
            @let charts = small(group);
            @if !charts.is_empty() { div class="multiples" { (charts::charts(&charts)) } }
        }
        @if let Some(scale_out) = scale_out(suite) {
            h3 { "Several targets compared with one" }
            (grid::table(&scale_out, "several targets compared with one"))
        }
        @if !groups.is_empty() { h3 { "Steps of each test" } }
        @for test in suite.tests.iter().filter(|test| !test.steps.is_empty()) { (details(test)) }
    }
}

fn details(test: &SuiteTestResult) -> Markup {
    html! {
        details id={"test-" (slug(&test.page.id))} {
            summary { strong { (clean(&test.page.id)) } " " (clean(&test.page.title)) }
            p { "It stresses " (clean(&test.page.stresses)) "." }
            @for note in test.unfit.iter().chain(&test.notes) { p class="dim" { (clean(note)) } }
            (charts::charts(&test_chart(test).into_iter().collect::<Vec<_>>()))
            (grid::table(&steps(&[test]), &format!("steps of {}", clean(&test.page.id))))
            h4 { "One operation costs" }
            (grid::table(&costs(&[test]), &format!("costs of {}", clean(&test.page.id))))
            @if let Some(step) = test.steps.iter().rev().find(|step| !step.events.is_empty()) {
                h4 { "Top timed events with " (number::sessions(f64::from(step.sessions))) }
                (grid::table(&events(step), &format!("events of {}", clean(&test.page.id))))
            }
        }
    }
}
