//! Stores records on all processors: one thread reads them, several pack them, and the caller stores them in
//! reading order. Packing takes longer than the other two together.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder, Scope};

use dyno_record::{PackedRecord, Packer, RepositoryError, RunRecord};

/// Records in one chunk: waking a thread for each record would cost more than it gains.
const CHUNK: usize = 32;

/// Maximum chunks waiting between two threads, so that memory does not grow with the input.
const WAITING_MAX: usize = 2;

/// Maximum packing threads. One storing thread can keep up with about three of them.
const LANES_MAX: usize = 4;

type Packed = Result<Vec<PackedRecord>, RepositoryError>;

/// Passes each record that `read` emits to `store`, packed and in order.
///
/// # Errors
/// The first of: an error of `store`, a record that cannot be packed, an error of `read`, a thread that
/// cannot be started.
pub(super) fn each_packed(
    read: impl FnOnce(&mut dyn FnMut(RunRecord) -> anyhow::Result<()>) -> anyhow::Result<()> + Send,
    mut store: impl FnMut(&PackedRecord) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let lanes = thread::available_parallelism().map_or(1, |processors| processors.get().min(LANES_MAX));
        let mut lane_ends = Vec::new();
        let mut begins = Vec::new();
        for _ in 0..lanes {
            let (begin, end) = lane(scope)?;
            begins.push(begin);
            lane_ends.push(end);
        }
        let reader = Builder::new().name("read".into()).spawn_scoped(scope, || distribute(read, begins))?;
        let stored = collect(&lane_ends, &mut store);
        // After an error this stops the other threads, because their channels are closed.
        drop(lane_ends);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        stored.and(read)
    })
}

fn lane<'s>(scope: &'s Scope<'s, '_>) -> io::Result<(SyncSender<Vec<RunRecord>>, Receiver<Packed>)> {
    let (begin, records) = sync_channel::<Vec<RunRecord>>(WAITING_MAX);
    let (packed, end) = sync_channel(WAITING_MAX);
    Builder::new().name("pack".into()).spawn_scoped(scope, move || {
        let mut packer = Packer::new();
        for chunk in records {
            let chunk: Packed = chunk.iter().map(|record| packer.pack_known_plan(record)).collect();
            if packed.send(chunk).is_err() {
                return;
            }
        }
    })?;
    Ok((begin, end))
}

/// Distributes records to the lanes, one chunk each in rotation.
fn distribute(
    read: impl FnOnce(&mut dyn FnMut(RunRecord) -> anyhow::Result<()>) -> anyhow::Result<()>,
    lanes: Vec<SyncSender<Vec<RunRecord>>>,
) -> anyhow::Result<()> {
    let mut turn = lanes.iter().cycle();
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut hand_on = |chunk: Vec<RunRecord>| {
        let lane = turn.next().expect("there is a lane");
        lane.send(chunk).map_err(|_| anyhow::anyhow!("the records could not be stored"))
    };
    read(&mut |record| {
        chunk.push(record);
        if chunk.len() < CHUNK {
            return Ok(());
        }
        hand_on(std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK)))
    })?;
    let distributed = hand_on(chunk);
    // The lanes end when all senders are dropped.
    drop(lanes);
    distributed
}

/// Receives from the lanes in the same rotation, until there are no more chunks.
fn collect(
    lanes: &[Receiver<Packed>],
    store: &mut impl FnMut(&PackedRecord) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for lane in lanes.iter().cycle() {
        // If the next lane received no more chunks, neither did the others.
        let Ok(chunk) = lane.recv() else { break };
        chunk?.iter().try_for_each(&mut *store)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use dyno_import::results::{ColumnMapping, ImportContext, ImportLines, ImportMarks, detect_dialect};
    use dyno_import::{ImportFile, TableNotation};

    use super::*;

    /// Records of a table's only line, repeated under different names.
    fn records() -> impl Iterator<Item = RunRecord> {
        let table = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(table.path(), "ops\n100\n").unwrap();
        let mut source = ImportFile::open(table.path()).unwrap();
        let context = ImportContext::new("csv", &source, ImportMarks::default());
        let maps: [ColumnMapping; 1] = ["ops=ops_per_s".parse().unwrap()];
        let (dialect, _) = detect_dialect(&mut source, &maps, &TableNotation::default()).unwrap();
        let mut lines = ImportLines::new(&mut source, &maps, &context, &dialect);
        let mut all = Vec::new();
        lines
            .each(|line| {
                all.append(line);
                Ok::<_, dyno_import::Error>(())
            })
            .unwrap();
        let template = all.remove(0);
        (0..).map(move |index| RunRecord { id: format!("run-{index}"), ..template.clone() })
    }

    #[test]
    fn imported_records_keep_their_read_order() {
        for count in [0, 1, CHUNK, 3 * CHUNK + 1, 40 * CHUNK] {
            let mut ids = Vec::new();
            let store = |packed: &PackedRecord| {
                ids.push(packed.id().to_owned());
                Ok(())
            };
            each_packed(|put| records().take(count).try_for_each(put), store).unwrap();
            assert_eq!(ids, (0..count).map(|index| format!("run-{index}")).collect::<Vec<_>>());
        }
    }

    #[test]
    fn import_lane_failure_is_reported_without_deadlock() {
        let endless = |put: &mut dyn FnMut(RunRecord) -> anyhow::Result<()>| records().try_for_each(put);
        let full = each_packed(endless, |_| Err(anyhow::anyhow!("the disk is full"))).unwrap_err();
        assert_eq!(full.to_string(), "the disk is full");
        let broken = each_packed(
            |put| {
                records().take(100).try_for_each(&mut *put)?;
                Err(anyhow::anyhow!("line 101 is broken"))
            },
            |_| Ok(()),
        );
        assert_eq!(broken.unwrap_err().to_string(), "line 101 is broken");
        let undated = |put: &mut dyn FnMut(RunRecord) -> anyhow::Result<()>| {
            records().map(|record| RunRecord { started_at: "x".into(), ..record }).try_for_each(put)
        };
        let unpacked = each_packed(undated, |_| Ok(())).unwrap_err();
        assert!(unpacked.to_string().contains("not a timestamp"), "{unpacked}");
    }
}
