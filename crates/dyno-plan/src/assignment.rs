//! Assigns sessions to targets in a plan with several targets.

use crate::plan::{Plan, TargetSettings};
use crate::url::TargetUrl;

impl TargetSettings {
    /// Every target that is driven, in the order of the plan.
    pub fn all(&self) -> &[TargetUrl] {
        match self.urls.as_slice() {
            [] => std::slice::from_ref(&self.url),
            several => {
                let count = self.count.map_or(several.len(), |count| count as usize);
                &several[..count.clamp(1, several.len())]
            }
        }
    }

    /// Whether the plan drives more than one target.
    pub fn is_several(&self) -> bool {
        self.all().len() > 1
    }

    /// The targets of sessions `0..sessions`, each as its index in [`TargetSettings::all`].
    ///
    /// Each session goes to the target with the fewest sessions for its weight; of equal ones, to the first. With equal weights
    /// this is round robin. With other weights the shares are as close to the weights as any number of sessions allows.
    pub fn assign(&self, sessions: u32) -> Vec<usize> {
        let targets = self.all().len();
        let weight = |at: usize| u64::from(self.weights.get(at).copied().unwrap_or(1).max(1));
        let mut assigned = vec![0u64; targets];
        let next = |_| {
            // (a + 1) / weight of a < (b + 1) / weight of b, without fractions.
            let fewest = |&a: &usize, &b: &usize| {
                ((assigned[a] + 1) * weight(b)).cmp(&((assigned[b] + 1) * weight(a))).then(a.cmp(&b))
            };
            let at = (0..targets).min_by(fewest).unwrap_or(0);
            assigned[at] += 1;
            at
        };
        (0..sessions).map(next).collect()
    }
}

impl Plan {
    /// Number of sessions of the target with index `at`.
    pub fn sessions_of(&self, at: usize) -> u32 {
        self.target.assign(self.sessions()).into_iter().filter(|target| *target == at).count() as u32
    }

    /// The plan reduced to the target with index `at`.
    ///
    /// Its sessions are those of the whole plan: [`Plan::sessions_of`] returns the number for this target.
    #[must_use]
    pub fn of_target(&self, at: usize) -> Self {
        let mut plan = self.clone();
        if let Some(url) = self.target.urls.get(at) {
            plan.target.url = url.clone();
        }
        plan.target.urls = Vec::new();
        plan.target.count = None;
        plan.target.weights = Vec::new();
        plan.observe.hosts.retain(|host| host.is_of(at));
        plan.observe.hosts.iter_mut().for_each(|host| host.target = None);
        plan
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::engine::fixture::nothing;
    use crate::read::{PlanSource, read};

    fn assign(weights: &[u32], sessions: u32) -> Vec<usize> {
        let urls: Vec<_> = (0..weights.len()).map(|i| format!("sqlite:{i}.db")).collect();
        let sets = vec![format!("target.urls={}", urls.join(",")), "run.sessions_per_schema=100".into()];
        let mut plan = read(&PlanSource { sets, ..nothing() }).unwrap();
        plan.target.weights = weights.to_vec();
        plan.target.assign(sessions)
    }

    #[test]
    fn target_count_drives_first_listed_targets() {
        let sets = |count: u32| {
            let urls = "target.urls=sqlite:a.db,sqlite:b.db,sqlite:c.db".to_owned();
            vec![urls, format!("target.count={count}"), "run.sessions_per_schema=4".to_owned()]
        };
        let plan = |count| read(&PlanSource { sets: sets(count), ..nothing() });
        let target_of_count = |count: u32| plan(count).unwrap().target;
        assert_eq!((target_of_count(1).all().len(), target_of_count(1).is_several()), (1, false));
        assert_eq!((target_of_count(2).all().len(), target_of_count(2).is_several()), (2, true));
        assert_eq!(
            (target_of_count(2).assign(4), target_of_count(1).assign(4)),
            (vec![0, 1, 0, 1], vec![0; 4])
        );
        assert_eq!(plan(2).unwrap().of_target(1).target.all(), ["sqlite:b.db".parse().unwrap()]);
        assert!(plan(4).unwrap_err().to_string().contains("4 targets, but target.urls has only 3"));
    }

    #[test]
    fn sessions_are_assigned_round_robin_or_by_weight() {
        assert_eq!(assign(&[1, 1, 1], 7), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(assign(&[2, 1], 6), [0, 0, 1, 0, 0, 1]);
        assert_eq!(assign(&[1, 3], 5), [1, 1, 0, 1, 1]);
    }

    proptest! {
        #[test]
        fn session_assignment_follows_target_weights(weights in prop::collection::vec(1u32..50, 2..6), sessions in 0u32..300) {
            let assigned = assign(&weights, sessions);
            let all: u32 = weights.iter().sum();
            for (at, weight) in weights.iter().enumerate() {
                let session_count = assigned.iter().filter(|target| **target == at).count() as f64;
                let due = f64::from(sessions) * f64::from(*weight) / f64::from(all);
                // The D'Hondt method never gives a target more than one session less than its exact share.
                prop_assert!(session_count >= due.floor() - 1.0 && session_count <= due + weights.len() as f64, "{weights:?} {assigned:?}");
            }
        }
    }
}
