//! Which step of a test comes next.

use std::collections::BTreeMap;

use dyno_analyze::points::median;
use dyno_plan::sweep::saturated_at;
use dyno_workload::own::suite::Load;

use super::choice::Depth;

/// What was measured of one test so far: by sessions, the key figure of each run; nothing of one that gave none.
pub(super) type Done = BTreeMap<u32, Vec<Option<f64>>>;

/// Runs of the steps that are repeated: four of each side tell one test apart, and of many tests some that differ (`dyno scorecard`)
/// only where most do; with five a sixth of them is enough.
const REPEATS: usize = 5;

/// Sessions and number of the repeat of the step that comes next; nothing at the end. `wide` is the second step of a quick look.
pub(super) fn next(load: &Load, depth: Depth, wide: u32, done: &Done) -> Option<(u32, u32)> {
    if let Some(sessions) = ramp(load, depth, wide, done).into_iter().find(|at| !done.contains_key(at)) {
        return Some((sessions, 1));
    }
    let repeats = if depth == Depth::Full { REPEATS } else { 1 };
    // A single session, and where most is done: by turns, so that drift meets both alike.
    let single = done.first_key_value().map(|(sessions, _)| *sessions)?;
    let runs = |sessions: u32| done.get(&sessions).map_or(0, Vec::len);
    [best(done).unwrap_or(single), single]
        .into_iter()
        .filter(|sessions| runs(*sessions) < repeats)
        .min_by_key(|sessions| runs(*sessions))
        .map(|sessions| (sessions, runs(sessions) as u32 + 1))
}

/// The sessions of a test's steps, as far as they are known by now, in order.
fn ramp(load: &Load, depth: Depth, wide: u32, done: &Done) -> Vec<u32> {
    let most = match load {
        Load::Fixed(sessions) => return sessions.clone(),
        Load::Ramp(most) => *most,
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
        let Some(runs) = done.get(&sessions) else { break };
        // What gave no result says nothing of the rise; what fails at one load fails at more.
        let Some(first) = runs.first().copied().flatten() else { break };
        throughputs.push(first);
        if saturated_at(&throughputs).is_some() {
            break;
        }
        sessions *= 2;
    }
    steps
}

/// The sessions with the highest figure, the median of their runs; the fewest of equals. What was the most by a single lucky run gives
/// way to what is the most after its repeats, which is then repeated as well: so the most of a test is never of a single run.
fn best(done: &Done) -> Option<u32> {
    let of = |runs: &[Option<f64>]| median(&runs.iter().copied().flatten().collect::<Vec<_>>());
    let known = done.iter().filter_map(|(sessions, runs)| Some((*sessions, of(runs)?)));
    known.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(sessions, _)| sessions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(load: &Load, depth: Depth, measured: impl Fn(u32) -> Option<f64>) -> Vec<(u32, u32)> {
        let (mut done, mut steps) = (Done::new(), Vec::new());
        while let Some((sessions, repeat)) = next(load, depth, 4, &done) {
            done.entry(sessions).or_default().push(measured(sessions));
            steps.push((sessions, repeat));
            assert!(steps.len() < 100, "{steps:?}");
        }
        steps
    }

    #[test]
    fn a_ramp_ends_two_steps_behind_its_rise_and_its_ends_are_repeated_by_turns() {
        let saturating = |sessions: u32| Some(f64::from(sessions.min(4)) * 100.0);
        let usual = walked(&Load::Ramp(1_024), Depth::Usual, saturating);
        assert_eq!(usual, [1, 2, 4, 8, 16].map(|sessions| (sessions, 1)));
        let full = walked(&Load::Ramp(1_024), Depth::Full, saturating);
        let repeats = [(4, 2), (1, 2), (4, 3), (1, 3), (4, 4), (1, 4), (4, 5), (1, 5)];
        assert_eq!(full[5..], repeats);
    }

    #[test]
    fn a_quick_look_has_two_steps_and_a_test_may_have_its_own() {
        let rising = |sessions: u32| Some(f64::from(sessions));
        assert_eq!(walked(&Load::Ramp(1_024), Depth::Quick, rising), [(1, 1), (4, 1)]);
        assert_eq!(walked(&Load::Ramp(1), Depth::Quick, rising), [(1, 1)]);
        assert_eq!(walked(&Load::Fixed(vec![1, 3]), Depth::Usual, rising), [(1, 1), (3, 1)]);
        assert_eq!(walked(&Load::Ramp(8), Depth::Usual, rising), [1, 2, 4, 8].map(|sessions| (sessions, 1)));
    }

    #[test]
    fn the_most_is_of_as_many_runs_as_the_first_that_was() {
        // The first run of 4 sessions was a lucky one.
        let (mut done, mut lucky) = (Done::new(), true);
        while let Some((sessions, _)) = next(&Load::Ramp(1_024), Depth::Full, 4, &done) {
            let luck = if sessions == 4 && std::mem::take(&mut lucky) { 50.0 } else { 0.0 };
            let measured = [100.0, 190.0, 180.0][(sessions.ilog2() as usize).min(2)] + luck;
            done.entry(sessions).or_default().push(Some(measured));
        }
        let runs = |sessions: u32| done[&sessions].len();
        assert_eq!((best(&done), runs(1), runs(2)), (Some(2), REPEATS, REPEATS));
        assert!(runs(4) < REPEATS, "{done:?}");
    }

    #[test]
    fn what_fails_is_not_tried_with_more() {
        assert_eq!(walked(&Load::Ramp(1_024), Depth::Usual, |_| None), [(1, 1)]);
    }
}
