//! Distributes sessions over hosts; the result depends only on the plan and the weights, so all hosts compute
//! the same.

use dyno_plan::Plan;

/// How sessions are distributed over hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weights {
    /// Every host gets the same number of sessions, as far as they divide.
    Equal,
    /// In proportion to the processors of each host.
    Processors,
    /// In proportion to these weights, in the order of ranks.
    Given(Vec<u32>),
}

/// Returns the session numbers of each host, in proportion to `weights`. Each workload's sessions are cut
/// into one contiguous range per host. So every host has a share of every workload, and sessions of one
/// schema stay together.
pub fn shares(plan: &Plan, weights: &[u32]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); weights.len()];
    let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    let mut first = 0u32;
    for (place, side) in plan.workload_shares().enumerate() {
        let (mut before, mut given) = (0u64, 0u32);
        for turn in 0..weights.len() {
            // Each workload starts with another host, so that few sessions do not all go to the first hosts.
            let host = (turn + place) % weights.len();
            before += u64::from(weights[host]);
            let until = match total {
                0 => side.sessions,
                // The first host gets a remaining session.
                _ => (u64::from(side.sessions) * before).div_ceil(total) as u32,
            };
            all[host].extend(first + given..first + until);
            given = until;
        }
        first += side.sessions;
    }
    all
}

/// Returns the hosts that have sessions, and their sessions, if there are too few for all hosts. The other
/// hosts take no part in the run.
pub(crate) fn busy_ranks(plan: &Plan, weights: &[u32]) -> (Vec<usize>, Vec<Vec<u32>>) {
    let mut ranks: Vec<usize> = (0..weights.len()).collect();
    loop {
        let rank_weights: Vec<u32> = ranks.iter().map(|&rank| weights[rank]).collect();
        let all = shares(plan, &rank_weights);
        // The distribution is computed again over the remaining hosts only, as the agents will compute it.
        if all.iter().all(|numbers| !numbers.is_empty()) || ranks.len() == 1 {
            return (ranks, all);
        }
        ranks = ranks
            .into_iter()
            .zip(&all)
            .filter(|(_, session_numbers)| !session_numbers.is_empty())
            .map(|(rank, _)| rank)
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simulated::plan;

    proptest! {
        #[test]
        fn every_session_has_one_agent_and_shares_follow_weights(
            sessions in 1u32..500, weights in prop::collection::vec(1u32..9, 1..20),
        ) {
            let shares = shares(&plan(sessions), &weights);
            let mut all: Vec<u32> = shares.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..sessions).collect::<Vec<_>>());
            let total: u32 = weights.iter().sum();
            for (share, weight) in shares.iter().zip(&weights) {
                let due = f64::from(sessions) * f64::from(*weight) / f64::from(total);
                prop_assert!((share.len() as f64 - due).abs() <= 1.0, "{} {due}", share.len());
            }
        }
    }

    proptest! {
        #[test]
        fn agents_without_sessions_are_left_out_but_no_session_is(
            sessions in 1u32..12, weights in prop::collection::vec(1u32..9, 1..20),
        ) {
            let (ranks, shares) = busy_ranks(&plan(sessions), &weights);
            prop_assert_eq!(ranks.len(), shares.len());
            prop_assert!(ranks.is_sorted() && shares.iter().all(|own| !own.is_empty()));
            let all: Vec<u32> = shares.into_iter().flatten().collect();
            prop_assert_eq!(all, (0..sessions).collect::<Vec<_>>());
        }
    }

    #[test]
    fn shares_split_sessions_by_host_weight() {
        assert_eq!(shares(&plan(8), &[1]), [(0..8).collect::<Vec<_>>()]);
        assert_eq!(shares(&plan(8), &[1, 1]), [(0..4).collect::<Vec<_>>(), (4..8).collect()]);
        assert_eq!(shares(&plan(8), &[3, 1]), [(0..6).collect::<Vec<_>>(), (6..8).collect()]);
    }
}
