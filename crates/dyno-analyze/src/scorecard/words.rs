//! The sentences and notes of a scorecard.

use super::{ScorecardPlatform, ScorecardRatio, ScorecardRow, ScorecardVerdict};
use crate::number::figure;
use crate::points::median;

/// How one component of a platform compares with that of the first.
struct ComponentResult<'l> {
    group: &'l str,
    ratios: Vec<(&'l str, ScorecardRatio)>,
    median: f64,
}

impl ComponentResult<'_> {
    /// In words: `storage (1.20 to 2.31 ×, median 1.80 × over 8 tests)`.
    fn words(&self) -> String {
        let times: Vec<f64> = self.ratios.iter().map(|(_, ratio)| ratio.times).collect();
        let (low, high) = times
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), times| (low.min(*times), high.max(*times)));
        match times.len() {
            1 => format!("{} ({} ×: {})", self.group, figure(times[0]), self.ratios[0].0),
            tests => format!(
                "{} ({} to {} ×, median {} × over {tests} tests)",
                self.group,
                figure(low),
                figure(high),
                figure(self.median)
            ),
        }
    }
}

fn components(lines: &[ScorecardRow], at: usize) -> Vec<ComponentResult<'_>> {
    let mut all: Vec<ComponentResult<'_>> = Vec::new();
    for line in lines {
        let Some(ratio) = line.ratios[at] else { continue };
        match all.iter_mut().find(|component| component.group == line.group) {
            Some(component) => component.ratios.push((&line.test, ratio)),
            None => {
                all.push(ComponentResult {
                    group: &line.group,
                    ratios: vec![(&line.test, ratio)],
                    median: 0.0,
                });
            }
        }
    }
    for component in &mut all {
        let times: Vec<f64> = component.ratios.iter().map(|(_, ratio)| ratio.times).collect();
        component.median = median(&times).unwrap_or_default();
    }
    all.sort_by(|a, b| b.median.total_cmp(&a.median));
    all
}

/// The components in which the platform at `at` is best and worst compared with the first, and the
/// number of significant tests.
pub(super) fn platform_sentence(
    platforms: &[ScorecardPlatform],
    at: usize,
    lines: &[ScorecardRow],
) -> String {
    let (first, name) = (&platforms[0].name, &platforms[at].name);
    let components = components(lines, at);
    let extremes = match components.as_slice() {
        [] => return format!("{name} and {first} have no test in common"),
        [only] => format!("only {} can be compared", only.words()),
        [best, .., worst] => format!("best in {}, worst in {}", best.words(), worst.words()),
    };
    let ratios: Vec<ScorecardRatio> = lines.iter().filter_map(|line| line.ratios[at]).collect();
    let count = |verdict| ratios.iter().filter(|ratio| ratio.verdict == verdict).count();
    let counts = [
        (count(ScorecardVerdict::Better), "better"),
        (count(ScorecardVerdict::Worse), "worse"),
        (count(ScorecardVerdict::Unsure), "uncertain"),
        (count(ScorecardVerdict::Few), "with too few repeats"),
        (count(ScorecardVerdict::Single), "without repeats"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let apart = lines.len() - ratios.len();
    let apart = if apart > 0 { format!("; {apart} cannot be compared") } else { String::new() };
    let tests = if ratios.len() == 1 { "test" } else { "tests" };
    format!("{name} against {first}: {extremes}; {} {tests}: {}{apart}", ratios.len(), counts.join(", "))
}

/// What qualifies the figures of the platforms, and the settings in which they differ.
pub(super) fn notes(platforms: &[ScorecardPlatform], lines: &[ScorecardRow]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let run: Vec<&ScorecardPlatform> = platforms.iter().filter(|platform| !platform.printed).collect();
    for platform in run.iter().skip(1) {
        let first = run[0];
        let other = |name: &str, key: &str, value: &str, reference: &ScorecardPlatform| {
            let theirs = reference
                .plan_settings
                .iter()
                .find(|(theirs, _)| theirs == key)
                .map_or("nothing", |(_, value)| value);
            (theirs != value)
                .then(|| format!("{key} is {theirs} for {} and {value} for {name}", reference.name))
        };
        notes.extend(
            platform.plan_settings.iter().filter_map(|(key, value)| other(&platform.name, key, value, first)),
        );
    }
    let is_real =
        |ratio: &ScorecardRatio| matches!(ratio.verdict, ScorecardVerdict::Better | ScorecardVerdict::Worse);
    if run.iter().any(|platform| platform.suites.len() == 1)
        && lines.iter().any(|line| line.ratios.iter().flatten().any(is_real))
    {
        let words = "repeats within one suite lie close in time, so drift between the suites counts as a \
            difference: run several suites of each platform alternately to separate the two";
        notes.push(words.to_owned());
    }
    let few = |ratio: &&ScorecardRatio| ratio.verdict == ScorecardVerdict::Few;
    match lines.iter().flat_map(|line| line.ratios.iter().flatten()).filter(few).count() {
        0 => {}
        few => {
            let (tests, lie) = if few == 1 { ("test", "lies") } else { ("tests", "lie") };
            notes.push(format!(
                "{few} {tests} {lie} apart by no more than chance explains among so many tests of equal \
                 platforms: run more suites of each platform alternately as repeats"
            ));
        }
    }
    for platform in platforms {
        notes.extend(platform.notes.iter().map(|note| format!("{}: {note}", platform.name)));
    }
    notes
}
