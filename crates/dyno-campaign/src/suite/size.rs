//! Sizes the data of storage tests: it must exceed the database's own cache, or only the cache is measured.

use dyno_plan::{BlocksOrBytes, Bytes, Plan, usual};
use dyno_workload::custom::suite::Cache;

use super::choice::Depth;
use super::order::SuiteCampaign;

/// Randomly read rows as a multiple of the cache: the cache then answers about one of four reads.
const TIMES: u64 = 4;
/// The same multiple for a table that is scanned from begin to end.
const SCAN_TIMES: u64 = 2;
/// Maximum size of randomly read rows in a quick suite, bytes, so that it stays quick.
const QUICK_MOST: u64 = 1 << 30;
/// Maximum size in other suites, bytes, so that a disk is not filled without asking.
const MOST: u64 = 16 << 30;

/// Minimum sizes of randomly read rows and of the scanned table, bytes. In a quick suite the test description
/// decides.
fn at_least(depth: Depth) -> [u64; 2] {
    match depth {
        Depth::Quick => [0, 0],
        Depth::Usual => [512 << 20, 256 << 20],
        Depth::Full => [2 << 30, 1 << 30],
    }
}

impl SuiteCampaign {
    /// Makes the data of storage tests larger than `cache_bytes` (0 if unknown). Sizes set by the user stay,
    /// and no size exceeds what may be loaded without asking.
    pub(super) fn exceed_cache(&mut self, cache_bytes: u64) {
        let most = if self.choice.depth == Depth::Quick { QUICK_MOST } else { MOST };
        let wanted = [TIMES, SCAN_TIMES].map(|times| cache_bytes.saturating_mul(times));
        let usual = usual(self.base.target.clone(), self.engines);
        let at_least = at_least(self.choice.depth);
        let wanted = match wanted[0] > most {
            true => at_least,
            false => std::array::from_fn(|place| wanted[place].max(at_least[place])),
        };
        let is_own =
            [self.base.data.scale != usual.data.scale, self.base.data.scan_scale != usual.data.scan_scale];
        for planned in self.tests.iter_mut().filter(|planned| planned.test.cache == Some(Cache::Out)) {
            let Some(plan) = planned.plan.as_mut().filter(|plan| plan.workload.folder.is_none()) else {
                continue;
            };
            let Plan { data, .. } = plan;
            for (at, size) in [&mut data.scale, &mut data.scan_scale].into_iter().enumerate() {
                if !is_own[at] && matches!(*size, BlocksOrBytes::Bytes(now) if now.0 < wanted[at]) {
                    *size = BlocksOrBytes::Bytes(Bytes(wanted[at]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_plan::engine::UrlForm;
    use dyno_plan::{EngineSpec, Engines, PlanSource};

    use super::*;
    use crate::campaign_context::RunLabels;
    use crate::suite::SuiteSelection;

    const ONE: Engines =
        Engines(&[EngineSpec::plain("postgres", UrlForm::Server, "postgres://dyno@db1/bench")]);

    /// Scale and scan scale, MiB, of a storage test and of a test in the cache; 0 if the description gives
    /// blocks.
    fn sizes(sets: &[&str], depth: Depth, cache_mib: u64) -> [[u64; 2]; 2] {
        let target = "target.url=postgres://dyno@db1/bench".to_owned();
        let sets = sets.iter().map(|set| (*set).to_owned()).chain([target]).collect();
        let plan = dyno_plan::read(&PlanSource { sets, ..PlanSource::of(ONE) }).unwrap();
        let names = ["storage-random-read", "server-logical-reads"];
        let tests = names.map(str::to_owned).to_vec();
        let mut order = SuiteCampaign::new(
            plan,
            SuiteSelection { depth, tests, ..SuiteSelection::default() },
            ONE,
            RunLabels::default(),
        )
        .unwrap();
        order.exceed_cache(cache_mib << 20);
        names.map(|name| {
            let planned = order.tests.iter().find(|planned| planned.test.id == name).unwrap();
            let data = &planned.plan.as_ref().unwrap().data;
            [data.scale, data.scan_scale].map(|size| match size {
                BlocksOrBytes::Bytes(bytes) => bytes.0 >> 20,
                BlocksOrBytes::Blocks(_) => 0,
            })
        })
    }

    #[test]
    fn storage_test_data_exceeds_cache_unless_scale_is_set() {
        let [small, in_cache] = sizes(&[], Depth::Quick, 1);
        assert_eq!(small, [192, 48], "what the page says is more than that");
        assert_eq!(sizes(&[], Depth::Quick, 128), [[512, 256], in_cache]);
        assert_eq!(sizes(&["data.scale=96M"], Depth::Quick, 128)[0], [96, 256]);
        assert_eq!(sizes(&[], Depth::Quick, 1_024)[0], [192, 48], "a quick look loads no 4 GiB");
        assert_eq!(sizes(&[], Depth::Usual, 1_024)[0], [4_096, 2_048]);
        assert_eq!(sizes(&[], Depth::Full, 65_536)[0], [2_048, 1_024], "nor does any load 256 GiB unasked");
        assert_eq!(
            sizes(&[], Depth::Usual, 0)[0],
            [512, 256],
            "a scan takes long enough where no cache is known"
        );
    }
}
