//! Fits tests to the platform: limits the data of tests in memory, and leaves out tests that need more
//! processors than there are.

use dyno_plan::Bytes;
use dyno_workload::custom::suite::{LimitPlace, Test};

use super::choice::Depth;
use super::order::{PlannedSuiteTest, SuiteCampaign};
use super::units::units;

/// Divisor of the database's cache that limits a scanned table. During a scan, PostgreSQL keeps no table
/// larger than a quarter of its cache (`access/heap/heapam.c`, `initscan`), InnoDB three eighths
/// (`innodb_old_blocks_pct`).
const CACHE_PARTS: u64 = 5;
/// The same divisor for the host's memory, if each session has a cache of its own.
const OWN_CACHE_PARTS: u64 = 64;
/// Divisor of the host's memory for data that must fit into memory.
const MEMORY_PARTS: u64 = 8;

/// The capacity of the platform.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PlatformCapacity {
    /// Size of the database's own cache, bytes; with several targets, of the smallest. Absent if unknown.
    pub(super) cache_bytes: Option<u64>,
    /// Memory of the database's host, bytes; absent if that is another host.
    pub(super) memory_bytes: Option<u64>,
    /// Processors of the database's host; absent if that is another host.
    pub(super) processors: Option<u32>,
}

/// Returns the largest scale that fits the platform, and what limits it.
fn scale_limit(test: &Test, room: &PlatformCapacity) -> Option<(u32, String)> {
    let fit = test.scale.limit?;
    let (bytes, limited) = match (fit.place, room.cache_bytes, room.memory_bytes) {
        (LimitPlace::Cache, Some(cache), _) => (
            cache / CACHE_PARTS,
            format!(
                "the database's cache of {} cannot keep more during a scan; a larger cache can",
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
    format!("the host's memory of {} has no room for more", Bytes(bytes))
}

impl SuiteCampaign {
    /// Limits the data of each test to what fits, and leaves out tests that need more processors than there
    /// are.
    pub(super) fn fit_to_platform(&mut self, room: &PlatformCapacity) {
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

fn limit_scale(planned: &mut PlannedSuiteTest, depth: Depth, room: &PlatformCapacity) {
    let PlannedSuiteTest { test, plan: Some(plan), page, .. } = planned else { return };
    let wanted = depth.scale(test);
    let Some((most, limited)) = scale_limit(test, room).filter(|(most, _)| *most < wanted) else { return };
    plan.workload.scale = (most > 1).then_some(most);
    page.units = units(test, most);
    if let Some(least) = &mut page.least {
        least.larger = limited;
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
    const GIB: u64 = 1 << 30;

    fn fitted(depth: Depth, room: PlatformCapacity) -> SuiteCampaign {
        let sets = vec!["target.url=postgres://dyno@db1/bench".to_owned()];
        let plan = dyno_plan::read(&PlanSource { sets, ..PlanSource::of(ONE) }).unwrap();
        let mut order = SuiteCampaign::new(
            plan,
            SuiteSelection { depth, ..SuiteSelection::default() },
            ONE,
            RunLabels::default(),
        )
        .unwrap();
        order.fit_to_platform(&room);
        order
    }

    /// Returns the scale of the workload, and the units of an operation.
    fn size(order: &SuiteCampaign, id: &str) -> (Option<u32>, u64) {
        let planned = order.tests.iter().find(|planned| planned.test.id == id).unwrap();
        (planned.plan.as_ref().unwrap().workload.scale, planned.page.units)
    }

    #[test]
    fn full_depth_loads_and_reads_millions_of_rows() {
        let full = fitted(
            Depth::Full,
            PlatformCapacity { cache_bytes: Some(8 * GIB), ..PlatformCapacity::default() },
        );
        for id in ["load-index", "load-copy", "load-unload"] {
            assert_eq!(size(&full, id), (Some(30), 3_000_000), "{id}");
        }
        assert_eq!(size(&full, "server-scan"), (Some(100), 5_000_000));
        assert_eq!(size(&full, "analytics-join"), (Some(50), 10_000_000));
        assert_eq!(size(&full, "storage-sort"), (Some(20), 2_000_000));
        assert_eq!(size(&full, "storage-redo-commit").1, 1, "a commit is one at any scale");
        assert_eq!(size(&full, "server-lookup").1, 1);
        assert_eq!(size(&fitted(Depth::Quick, PlatformCapacity::default()), "load-index"), (None, 100_000));
    }

    #[test]
    fn suite_data_is_sized_for_cache_and_memory() {
        let room =
            PlatformCapacity { cache_bytes: Some(128 << 20), memory_bytes: Some(4 * GIB), processors: None };
        let full = fitted(Depth::Full, room);
        assert_eq!(size(&full, "server-scan"), (Some(2), 100_000));
        assert_eq!(size(&full, "server-lookup").0, Some(2), "tests of one folder share its data");
        let scan = full.tests.iter().find(|planned| planned.test.id == "server-scan").unwrap();
        assert_eq!(
            scan.page.least.as_ref().unwrap().larger,
            "the database's cache of 128M cannot keep more during a scan; a larger cache can"
        );
        assert_eq!(size(&full, "analytics-join").0, Some(44));
        let tiny = fitted(Depth::Full, PlatformCapacity { cache_bytes: Some(1 << 20), ..room });
        assert_eq!(size(&tiny, "server-scan"), (None, 50_000));
    }

    #[test]
    fn suite_tests_with_more_processes_than_cpus_are_omitted() {
        let runs = |processors| {
            let order = fitted(Depth::Usual, PlatformCapacity { processors, ..PlatformCapacity::default() });
            let ids = order.tests.iter().filter(|planned| planned.plan.is_some() && planned.test.threads > 1);
            ids.map(|planned| planned.test.threads).collect::<Vec<_>>()
        };
        assert_eq!(runs(Some(2)), [2, 2]);
        assert!(runs(Some(1)).is_empty());
        assert_eq!(runs(Some(6)), [2, 4, 2, 4]);
        assert_eq!(runs(None), [2, 4, 8, 2, 4, 8], "nobody knows how many another host has");
    }
}
