//! Decides which step of a test comes next.

use std::collections::BTreeMap;

use dyno_analyze::points::median;
use dyno_plan::sweep::saturated_at;
use dyno_workload::custom::suite::SuiteTestSessions;

use super::choice::Depth;

/// Results of one test so far: for each number of sessions, the key figure of each run, absent if a run gave
/// none.
pub(super) type SuiteStepResults = BTreeMap<u32, Vec<Option<f64>>>;

/// Number of runs of the repeated steps. Four runs of each side are enough to compare a single test. With
/// many tests (`dyno scorecard`), four only suffice if most of them differ; with five, a sixth of them is
/// enough.
const REPEATS: usize = 5;

/// Sessions and repeat number of the next step; `None` at the end. `wide` is the second step of a quick
/// suite.
pub(super) fn next_suite_step(
    load: &SuiteTestSessions,
    depth: Depth,
    wide: u32,
    results: &SuiteStepResults,
) -> Option<(u32, u32)> {
    if let Some(sessions) = ramp(load, depth, wide, results).into_iter().find(|at| !results.contains_key(at))
    {
        return Some((sessions, 1));
    }
    let repeats = if depth == Depth::Full { REPEATS } else { 1 };
    // The single session and the best step are repeated, interleaved, so that drift affects both equally.
    let single = results.first_key_value().map(|(sessions, _)| *sessions)?;
    let runs = |sessions: u32| results.get(&sessions).map_or(0, Vec::len);
    [best(results).unwrap_or(single), single]
        .into_iter()
        .filter(|sessions| runs(*sessions) < repeats)
        .min_by_key(|sessions| runs(*sessions))
        .map(|sessions| (sessions, runs(sessions) as u32 + 1))
}

/// Returns the sessions of a test's steps in order, as far as they are known.
fn ramp(load: &SuiteTestSessions, depth: Depth, wide: u32, results: &SuiteStepResults) -> Vec<u32> {
    let most = match load {
        SuiteTestSessions::Fixed(sessions) => return sessions.clone(),
        SuiteTestSessions::Ramp(most) => *most,
    };
    if depth == Depth::Quick {
        let wide = wide.min(most);
        return if wide > 1 { vec![1, wide] } else { vec![1] };
    }
    let mut steps = Vec::new();
    let mut throughputs = Vec::new();
    let mut sessions = 1;
    while sessions <= most {
        steps.push(sessions);
        let Some(runs) = results.get(&sessions) else { break };
        // A run without a result says nothing about the ramp, and what fails at one load also fails at a
        // higher one.
        let Some(first) = runs.first().copied().flatten() else { break };
        throughputs.push(first);
        if saturated_at(&throughputs).is_some() {
            break;
        }
        sessions *= 2;
    }
    steps
}

/// The number of sessions with the highest median figure; of equal ones the fewest. If the best result came
/// from a single lucky run, its repeats lower the median and another step becomes the best. That step is then
/// repeated, too, so the best result never comes from a single run.
fn best(results: &SuiteStepResults) -> Option<u32> {
    let median_of = |runs: &[Option<f64>]| median(&runs.iter().copied().flatten().collect::<Vec<_>>());
    let medians = results.iter().filter_map(|(sessions, runs)| Some((*sessions, median_of(runs)?)));
    medians.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(sessions, _)| sessions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(
        load: &SuiteTestSessions,
        depth: Depth,
        measured: impl Fn(u32) -> Option<f64>,
    ) -> Vec<(u32, u32)> {
        let (mut done, mut steps) = (SuiteStepResults::new(), Vec::new());
        while let Some((sessions, repeat)) = next_suite_step(load, depth, 4, &done) {
            done.entry(sessions).or_default().push(measured(sessions));
            steps.push((sessions, repeat));
            assert!(steps.len() < 100, "{steps:?}");
        }
        steps
    }

    #[test]
    fn ramp_ends_two_steps_after_rise_and_its_ends_repeat_alternately() {
        let saturating = |sessions: u32| Some(f64::from(sessions.min(4)) * 100.0);
        let usual = walked(&SuiteTestSessions::Ramp(1_024), Depth::Usual, saturating);
        assert_eq!(usual, [1, 2, 4, 8, 16].map(|sessions| (sessions, 1)));
        let full = walked(&SuiteTestSessions::Ramp(1_024), Depth::Full, saturating);
        let repeats = [(4, 2), (1, 2), (4, 3), (1, 3), (4, 4), (1, 4), (4, 5), (1, 5)];
        assert_eq!(full[5..], repeats);
    }

    #[test]
    fn quick_ramp_has_two_steps_and_fixed_sessions_are_kept() {
        let rising = |sessions: u32| Some(f64::from(sessions));
        assert_eq!(walked(&SuiteTestSessions::Ramp(1_024), Depth::Quick, rising), [(1, 1), (4, 1)]);
        assert_eq!(walked(&SuiteTestSessions::Ramp(1), Depth::Quick, rising), [(1, 1)]);
        assert_eq!(walked(&SuiteTestSessions::Fixed(vec![1, 3]), Depth::Usual, rising), [(1, 1), (3, 1)]);
        assert_eq!(
            walked(&SuiteTestSessions::Ramp(8), Depth::Usual, rising),
            [1, 2, 4, 8].map(|sessions| (sessions, 1))
        );
    }

    #[test]
    fn peak_load_has_full_repeats_after_a_lucky_first_run() {
        // The first run with 4 sessions was unusually fast.
        let (mut done, mut lucky) = (SuiteStepResults::new(), true);
        while let Some((sessions, _)) =
            next_suite_step(&SuiteTestSessions::Ramp(1_024), Depth::Full, 4, &done)
        {
            let luck = if sessions == 4 && std::mem::take(&mut lucky) { 50.0 } else { 0.0 };
            let measured = [100.0, 190.0, 180.0][(sessions.ilog2() as usize).min(2)] + luck;
            done.entry(sessions).or_default().push(Some(measured));
        }
        let runs = |sessions: u32| done[&sessions].len();
        assert_eq!((best(&done), runs(1), runs(2)), (Some(2), REPEATS, REPEATS));
        assert!(runs(4) < REPEATS, "{done:?}");
    }

    #[test]
    fn failed_step_is_not_retried_with_more_sessions() {
        assert_eq!(walked(&SuiteTestSessions::Ramp(1_024), Depth::Usual, |_| None), [(1, 1)]);
    }
}
