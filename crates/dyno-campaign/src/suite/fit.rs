//! How much data tests in memory have, and over how many processors an operation is spread: as much as the platform has room for.

use dyno_plan::Bytes;
use dyno_workload::own::suite::{LimitPlace, Test};

use super::choice::Depth;
use super::order::{Order, Planned};
use super::units::units;

/// A scanned table takes this part of the database's cache at most: PostgreSQL keeps no table of more than a quarter of its cache
/// during a scan (`access/heap/heapam.c`, `initscan`), InnoDB three eighths (`innodb_old_blocks_pct`).
const CACHE_PARTS: u64 = 5;
/// The same of memory where each session has a cache of its own.
const OWN_CACHE_PARTS: u64 = 64;
/// The part of the host's memory that data may take which has to fit there.
const MEMORY_PARTS: u64 = 8;

/// What the platform has room for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes that the database's own cache holds, of several targets the least; absent where it does not say.
    pub(super) cache_bytes: Option<u64>,
    /// Bytes of memory of the database's host; absent where that is another one.
    pub(super) memory_bytes: Option<u64>,
    /// Processors of the database's host; absent where that is another one.
    pub(super) processors: Option<u32>,
}

/// The largest scale with which the test has room, and what limits it.
fn most(test: &Test, room: &Room) -> Option<(u32, String)> {
    let fit = test.scale.limit?;
    let (bytes, limited) = match (fit.place, room.cache_bytes, room.memory_bytes) {
        (LimitPlace::Cache, Some(cache), _) => (
            cache / CACHE_PARTS,
            format!(
                "the database's cache of {} keeps no more during a scan; a larger cache does",
                Bytes(cache)
            ),
        ),
        (LimitPlace::Cache, None, Some(memory)) => (memory / OWN_CACHE_PARTS, of_memory(memory)),
        (LimitPlace::Memory, _, Some(memory)) => (memory / MEMORY_PARTS, of_memory(memory)),
        (_, _, None) => return None,
    };
    let scale = u32::try_from(bytes / fit.bytes).unwrap_or(u32::MAX).max(1);
    Some((scale, limited))
}

fn of_memory(bytes: u64) -> String {
    format!("the host's memory of {} has room for no more", Bytes(bytes))
}

impl Order {
    /// Gives each test as much data as there is room for, and leaves out those that ask for more processors than there are.
    pub(super) fn fit(&mut self, room: &Room) {
        let depth = self.choice.depth;
        for planned in self.tests.iter_mut().filter(|planned| planned.plan.is_some()) {
            limit_scale(planned, depth, room);
            let threads = planned.test.threads;
            if let Some(processors) = room.processors.filter(|processors| *processors < threads) {
                let counted =
                    if processors == 1 { "1 processor".into() } else { format!("{processors} processors") };
                planned.page.why_not =
                    Some(format!("the database's host has {counted}, fewer than {threads}"));
                planned.plan = None;
            }
        }
    }
}

fn limit_scale(planned: &mut Planned, depth: Depth, room: &Room) {
    let Planned { test, plan: Some(plan), page, .. } = planned else { return };
    let wanted = depth.scale(test);
    let Some((most, limited)) = most(test, room).filter(|(most, _)| *most < wanted) else { return };
    plan.workload.scale = (most > 1).then_some(most);
    page.units = units(test, most);
    if let Some(least) = &mut page.least {
        least.larger = limited;
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
    const GIB: u64 = 1 << 30;

    fn fitted(depth: Depth, room: Room) -> Order {
        let sets = vec!["target.url=postgres://dyno@db1/bench".to_owned()];
        let plan = dyno_plan::read(&PlanSource { sets, ..PlanSource::of(ONE) }).unwrap();
        let mut order =
            Order::new(plan, Choice { depth, ..Choice::default() }, ONE, Marks::default()).unwrap();
        order.fit(&room);
        order
    }

    /// TestScale of the workload, and units of an operation.
    fn size(order: &Order, id: &str) -> (Option<u32>, u64) {
        let planned = order.tests.iter().find(|planned| planned.test.id == id).unwrap();
        (planned.plan.as_ref().unwrap().workload.scale, planned.page.units)
    }

    #[test]
    fn full_depth_loads_and_reads_millions_of_rows() {
        let full = fitted(Depth::Full, Room { cache_bytes: Some(8 * GIB), ..Room::default() });
        for id in ["load-index", "load-copy", "load-unload"] {
            assert_eq!(size(&full, id), (Some(30), 3_000_000), "{id}");
        }
        assert_eq!(size(&full, "server-scan"), (Some(100), 5_000_000));
        assert_eq!(size(&full, "analytics-join"), (Some(50), 10_000_000));
        assert_eq!(size(&full, "storage-sort"), (Some(20), 2_000_000));
        assert_eq!(size(&full, "storage-redo-commit").1, 1, "a commit is one at any scale");
        assert_eq!(size(&full, "server-lookup").1, 1);
        assert_eq!(size(&fitted(Depth::Quick, Room::default()), "load-index"), (None, 100_000));
    }

    #[test]
    fn scanned_data_fits_the_cache_and_a_star_the_memory() {
        let room = Room { cache_bytes: Some(128 << 20), memory_bytes: Some(4 * GIB), processors: None };
        let full = fitted(Depth::Full, room);
        assert_eq!(size(&full, "server-scan"), (Some(2), 100_000));
        assert_eq!(size(&full, "server-lookup").0, Some(2), "tests of one folder share its data");
        let scan = full.tests.iter().find(|planned| planned.test.id == "server-scan").unwrap();
        assert_eq!(
            scan.page.least.as_ref().unwrap().larger,
            "the database's cache of 128M keeps no more during a scan; a larger cache does"
        );
        assert_eq!(size(&full, "analytics-join").0, Some(44));
        let tiny = fitted(Depth::Full, Room { cache_bytes: Some(1 << 20), ..room });
        assert_eq!(size(&tiny, "server-scan"), (None, 50_000));
    }

    #[test]
    fn tests_of_more_processes_than_processors_are_left_out() {
        let runs = |processors| {
            let order = fitted(Depth::Usual, Room { processors, ..Room::default() });
            let ids = order.tests.iter().filter(|planned| planned.plan.is_some() && planned.test.threads > 1);
            ids.map(|planned| planned.test.threads).collect::<Vec<_>>()
        };
        assert_eq!(runs(Some(2)), [2, 2]);
        assert!(runs(Some(1)).is_empty());
        assert_eq!(runs(Some(6)), [2, 4, 2, 4]);
        assert_eq!(runs(None), [2, 4, 8, 2, 4, 8], "nobody knows how many another host has");
    }
}
