//! Keys of `[data]`.

use super::{PlanKey, PlanKeyKind, PlanSection, at};

pub(super) const SECTION: PlanSection = PlanSection {
    name: "data",
    title: "the data",
    doc: "One row fills one block, and keys are in random order. Every row of a key range therefore needs a \
          block of its own. Data larger than the database's cache measures storage; smaller data measures \
          memory and CPU.",
    keys: &[
        PlanKey::new("data.schemas", PlanKeyKind::Count(1, 10_000, at!(data.schemas)))
            .default("1")
            .doc("Independent copies of the test tables.")
            .more("Sessions of different schemas never contend for a row or a block.")
            .example("4")
            .active(),
        PlanKey::new("data.scale", PlanKeyKind::Size(false, at!(data.scale)))
            .default("10000 blocks")
            .doc("Size of each schema's table, in blocks (rows) or bytes.")
            .more("Bytes are divided by the block size, rounded down. A bare number is blocks.")
            .example("80M")
            .active(),
        PlanKey::new("data.scan_scale", PlanKeyKind::Size(true, at!(data.scan_scale)))
            .default("0 blocks")
            .doc("Size of each schema's second table, without an index, for full scans.")
            .example("1.5G"),
        PlanKey::new("data.block_size", PlanKeyKind::BlockSize(at!(data.block_size)))
            .without("the engine's default")
            .doc(
                "Block size: the page size on SQLite; on servers, the block size that the server is required \
                 to have.",
            )
            .example("8K"),
        PlanKey::new("data.compressible", PlanKeyKind::Count(0, 100, at!(data.compressible)))
            .default("0")
            .doc("Share of the filler that can be compressed.")
            .more("At 0 no data repeats, so storage that compresses or deduplicates shows its true speed.")
            .unit("%")
            .example("50"),
        PlanKey::new("data.seed", PlanKeyKind::Number(0, u64::MAX, at!(data.seed)))
            .default("42")
            .doc("Seed of the key order and of the filler; equal seeds give equal rows.")
            .example("7"),
        PlanKey::new("data.load_parallel", PlanKeyKind::Count(1, 256, at!(data.load_parallel)))
            .default("2")
            .doc("Connections that load data in parallel.")
            .more("SQLite has one writer and always loads with one connection.")
            .example("8")
            .for_servers(),
        PlanKey::new("data.copy_schemas", PlanKeyKind::Flag(at!(data.copy_schemas)))
            .default("false")
            .doc("Whether the database makes schemas 2 and above from schema 1 (Oracle).")
            .more(
                "Only the rows of schema 1 then go through Dyno's connections; each other table is one statement \
                 inside the database, `load_parallel` at a time. A copy has rearranged text and its own key \
                 order. Data with and without copies differs: a change of this key needs another load. No \
                 effect with one schema. `docs/reference/engines/oracle.md` has the details.",
            )
            .example("true")
            .for_servers(),
    ],
};
