//! What the rules of next steps ask about a scorecard.

use super::{NOT_RUN, ScorecardPlatform, ScorecardRow, ScorecardVerdict};
use crate::next::{DifferingSettings, NextStep, PlatformTests, ScorecardEvidence, after_scorecard};

/// Factor from which a difference is of interest.
const APART: f64 = 1.05;

/// The steps after the scorecard with these `lines`.
pub(super) fn steps(platforms: &[ScorecardPlatform], lines: &[ScorecardRow]) -> Vec<NextStep> {
    let measured = || (0..platforms.len()).filter(|at| !platforms[*at].printed);
    let is_of_suite = |line: &&ScorecardRow| measured().any(|at| line.values[at].is_ok());
    let not_run = measured().map(|at| {
        let is_absent = |line: &&ScorecardRow| line.values[at].as_ref().is_err_and(|why| why == NOT_RUN);
        let tests = lines.iter().filter(is_of_suite).filter(is_absent).map(|line| line.test.clone());
        of_platform(&platforms[at], tests.collect(), 0)
    });
    let judged = |is: &dyn Fn(&ScorecardRow, usize) -> bool| {
        measured().filter(|at| !platforms[0].printed && *at > 0).find_map(|at| {
            let those: Vec<&ScorecardRow> = lines.iter().filter(|line| is(line, at)).collect();
            let runs = |at: usize| {
                let values = those.iter().filter_map(|line| line.values[at].as_ref().ok());
                values.map(|value| value.runs).min().unwrap_or(0)
            };
            let fewest = if runs(at) < runs(0) { at } else { 0 };
            let tests: Vec<String> = those.iter().map(|line| line.test.clone()).collect();
            (!tests.is_empty()).then(|| of_platform(&platforms[fewest], tests, runs(fewest)))
        })
    };
    let verdict = |line: &ScorecardRow, at: usize| line.ratios[at].map(|ratio| (ratio.verdict, ratio.times));
    after_scorecard(&ScorecardEvidence {
        not_run: { not_run }.find(|missing| !missing.tests.is_empty()),
        settings: settings(platforms),
        few: judged(&|line, at| {
            let few = [ScorecardVerdict::Single, ScorecardVerdict::Few];
            verdict(line, at).is_some_and(|(verdict, _)| few.contains(&verdict))
        }),
        unsure: judged(&|line, at| {
            verdict(line, at).is_some_and(|(verdict, times)| {
                verdict == ScorecardVerdict::Unsure && times.max(1.0 / times) >= APART
            })
        }),
    })
}

fn of_platform(platform: &ScorecardPlatform, tests: Vec<String>, runs: usize) -> PlatformTests {
    PlatformTests { platform: platform.name.clone(), tests, runs, again: platform.again.clone() }
}

/// The first measured platform with other plan settings than the first, and these.
fn settings(platforms: &[ScorecardPlatform]) -> Option<DifferingSettings> {
    let mut measured = platforms.iter().filter(|platform| !platform.printed);
    let first = measured.next()?;
    let value = |key: &str| {
        let setting = first.plan_settings.iter().find(|(known, _)| known == key);
        setting.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    measured.find_map(|platform| {
        let differing: Vec<(String, String, String)> = platform
            .plan_settings
            .iter()
            .map(|(key, own)| (key.clone(), value(key), own.clone()))
            .filter(|(_, first, own)| first != own)
            .collect();
        (!differing.is_empty()).then(|| (of_platform(platform, Vec::new(), 0), differing))
    })
}
