//! Searches the highest load that keeps a limit: doubling, then halving, then repeating both ends.
//!
//! One run near the limit says little, because it keeps the limit by chance and breaks it in the
//! next run. So the next step follows from all runs so far. Where repeats contradict the first run,
//! the search continues from there.

use std::collections::BTreeMap;

/// The results at each load: runs that kept the limit, and all runs.
pub type SearchTally = BTreeMap<u64, (u32, u32)>;

/// The range and precision of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchRange {
    /// The load to begin with.
    pub from: u64,
    /// The highest load to try.
    pub max: u64,
    /// Distance of the ends at which the search stops, % of the lower end. Adjacent whole numbers
    /// always stop it.
    pub resolution_pct: u32,
    /// Runs at each end before its result is accepted.
    pub confirm: u32,
}

/// The highest load that keeps the limit, and the lowest that does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bracket {
    /// A load that keeps the limit in most of its runs; absent where even the lowest load does not.
    pub holds: Option<u64>,
    /// A load that does not; absent where even the highest load keeps the limit.
    pub breaks: Option<u64>,
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// The load of the next run.
    Run(u64),
    /// The search is finished, with this bracket.
    Found(Bracket),
}

/// Whether a load keeps the limit: more than half of its runs did.
fn holds((kept, runs): (u32, u32)) -> bool {
    kept * 2 > runs
}

/// The next step after the results in `tally`.
pub fn next(range: SearchRange, tally: &SearchTally) -> SearchStep {
    let breaks = tally.iter().find(|(_, runs)| !holds(**runs)).map(|(&load, _)| load);
    let below = tally.range(..breaks.unwrap_or(u64::MAX));
    let held = below.filter(|(_, runs)| holds(**runs)).map(|(&load, _)| load).next_back();
    let to_try = match (held, breaks) {
        (None, None) => Some(range.from.clamp(1, range.max)),
        (Some(held), None) => (held < range.max).then(|| held.saturating_mul(2).min(range.max)),
        // Where the first load breaks the limit, lower ones may keep it.
        (None, Some(breaks)) => (breaks > 1).then_some(breaks / 2),
        (Some(held), Some(breaks)) => {
            let near = (held.saturating_mul(range.resolution_pct.into()) / 100).max(1);
            (breaks - held > near).then(|| held + (breaks - held) / 2)
        }
    };
    let unsure = || [held, breaks].into_iter().flatten().find(|end| tally[end].1 < range.confirm);
    match to_try.or_else(unsure) {
        Some(load) => SearchStep::Run(load),
        None => SearchStep::Found(Bracket { holds: held, breaks }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Runs a search against a simulated platform; returns its bracket and the loads that were run.
    fn search(range: SearchRange, mut keeps: impl FnMut(u64) -> bool) -> (Bracket, Vec<u64>) {
        let (mut tally, mut run) = (SearchTally::new(), Vec::new());
        loop {
            match next(range, &tally) {
                SearchStep::Found(bracket) => return (bracket, run),
                SearchStep::Run(load) => {
                    assert!(run.len() < 2_000, "it does not end: {run:?}");
                    run.push(load);
                    let (kept, runs) = tally.get(&load).copied().unwrap_or_default();
                    tally.insert(load, (kept + u32::from(keeps(load)), runs + 1));
                }
            }
        }
    }

    #[test]
    fn bracket_search_doubles_halves_and_confirms() {
        let range = SearchRange { from: 1, max: 1_024, resolution_pct: 0, confirm: 3 };
        let (bracket, run) = search(range, |sessions| sessions <= 11);
        assert_eq!(bracket, Bracket { holds: Some(11), breaks: Some(12) });
        assert_eq!(run, [1, 2, 4, 8, 16, 12, 10, 11, 11, 11, 12, 12]);
    }

    #[test]
    fn lucky_bracket_result_is_overturned_by_confirmation() {
        let range = SearchRange { from: 1, max: 64, resolution_pct: 0, confirm: 3 };
        let mut runs_at_4 = 0;
        let (bracket, _) = search(range, |sessions| {
            runs_at_4 += u32::from(sessions == 4);
            sessions < 4 || (sessions == 4 && runs_at_4 == 1)
        });
        assert_eq!(bracket, Bracket { holds: Some(3), breaks: Some(4) });
    }

    #[test]
    fn search_bracket_is_open_when_none_or_all_loads_hold() {
        let range = SearchRange { from: 4, max: 20, resolution_pct: 0, confirm: 2 };
        assert_eq!(search(range, |_| false).0, Bracket { holds: None, breaks: Some(1) });
        assert_eq!(search(range, |_| true).0, Bracket { holds: Some(20), breaks: None });
    }

    proptest! {
        #[test]
        fn search_finds_a_sharp_limit(limit in 0u64..3_000, from in 1u64..3_000, max in 1u64..3_000, pct in 0u32..10, confirm in 1u32..4) {
            let range = SearchRange { from, max, resolution_pct: pct, confirm };
            let (bracket, run) = search(range, |load| load <= limit);
            prop_assert!(run.iter().all(|load| (1..=max).contains(load)));
            prop_assert!(bracket.holds.is_none_or(|load| load <= limit));
            prop_assert!(bracket.breaks.is_none_or(|load| load > limit));
            match (bracket.holds, bracket.breaks) {
                (Some(low), Some(high)) => prop_assert!(high - low <= (low * u64::from(pct) / 100).max(1)),
                (None, Some(high)) => prop_assert_eq!(high, 1),
                (Some(low), None) => prop_assert_eq!(low, max),
                (None, None) => prop_assert!(false),
            }
            let ends = [bracket.holds, bracket.breaks].into_iter().flatten();
            for end in ends {
                prop_assert!(run.iter().filter(|load| **load == end).count() >= confirm as usize);
            }
        }

        #[test]
        fn bracket_search_ends_with_random_answers(answers in proptest::collection::vec(any::<bool>(), 2_000), from in 1u64..100, confirm in 1u32..5) {
            let mut answers = answers.into_iter();
            let range = SearchRange { from, max: 200, resolution_pct: 2, confirm };
            let (bracket, run) = search(range, |_| answers.next().unwrap_or(true));
            prop_assert!(run.len() <= 200 * confirm as usize);
            prop_assert!(bracket.holds.is_some() || bracket.breaks.is_some());
        }
    }
}
