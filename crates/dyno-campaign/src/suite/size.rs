//! How much data tests of storage have: more than the database's own cache holds, or that is all they would measure.

use dyno_plan::{Bytes, Plan, Size, usual};
use dyno_workload::own::suite::Cache;

use super::choice::Depth;
use super::order::Order;

/// Times that rows read at random are what the cache holds: of four reads it then answers about one.
const TIMES: u64 = 4;
/// The same of a table that is read from its begin to its end.
const SCAN_TIMES: u64 = 2;
/// Rows read at random that are loaded unasked at most, bytes: a quick look is to stay one.
const QUICK_MOST: u64 = 1 << 30;
/// The same of other depths: nobody wants a disk filled unasked.
const MOST: u64 = 16 << 30;

/// Rows read at random and the table that is scanned at least, bytes; those of a quick look are what the page says.
fn at_least(depth: Depth) -> [u64; 2] {
    match depth {
        Depth::Quick => [0, 0],
        Depth::Usual => [512 << 20, 256 << 20],
        Depth::Full => [2 << 30, 1 << 30],
    }
}

impl Order {
    /// Makes the data of tests of storage larger than `cache_bytes`, 0 where that is not known. Not where the user says how much it is to
    /// be, nor where it is more than is loaded unasked.
    pub(super) fn outgrow(&mut self, cache_bytes: u64) {
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
                if !is_own[at] && matches!(*size, Size::Bytes(now) if now.0 < wanted[at]) {
                    *size = Size::Bytes(Bytes(wanted[at]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_plan::engine::Form;
    use dyno_plan::{EngineSpec, Engines, PlanSource};

    use super::*;
    use crate::lead::Marks;
    use crate::suite::Choice;

    const ONE: Engines = Engines(&[EngineSpec::plain("postgres", Form::Server, "postgres://dyno@db1/bench")]);

    /// Scale and scale of scans, in MiB, of a test of storage and of one in the cache; 0 where a page leaves it in blocks.
    fn sizes(sets: &[&str], depth: Depth, cache_mib: u64) -> [[u64; 2]; 2] {
        let target = "target.url=postgres://dyno@db1/bench".to_owned();
        let sets = sets.iter().map(|set| (*set).to_owned()).chain([target]).collect();
        let plan = dyno_plan::read(&PlanSource { sets, ..PlanSource::of(ONE) }).unwrap();
        let names = ["storage-random-read", "server-logical-reads"];
        let tests = names.map(str::to_owned).to_vec();
        let mut order =
            Order::new(plan, Choice { depth, tests, ..Choice::default() }, ONE, Marks::default()).unwrap();
        order.outgrow(cache_mib << 20);
        names.map(|name| {
            let planned = order.tests.iter().find(|planned| planned.test.id == name).unwrap();
            let data = &planned.plan.as_ref().unwrap().data;
            [data.scale, data.scan_scale].map(|size| match size {
                Size::Bytes(bytes) => bytes.0 >> 20,
                Size::Blocks(_) => 0,
            })
        })
    }

    #[test]
    fn data_of_storage_outgrows_the_cache_unless_the_user_says_how_much_it_is() {
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
