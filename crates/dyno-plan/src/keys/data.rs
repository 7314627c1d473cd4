//! Keys of `[data]`.

use super::{Key, Kind, Section, at};

pub(super) const SECTION: Section = Section {
    name: "data",
    title: "the data",
    doc: "Data that is hard on the platform: one row fills one block, and keys are in random order, so that every row of a \
          key range costs a visit to a block of its own. Larger than the database's cache, it measures storage; smaller, \
          it measures memory and CPU.",
    keys: &[
        Key::new("data.schemas", Kind::Count(1, 10_000, at!(data.schemas)))
            .default("1")
            .doc("Independent copies of the test tables.")
            .more("Sessions of different schemas never contend for a row or a block.")
            .example("4")
            .active(),
        Key::new("data.scale", Kind::Size(false, at!(data.scale)))
            .default("10000 blocks")
            .doc("Size of each schema's table, in blocks (rows) or bytes.")
            .more("Bytes are divided by the block size, rounded down. A bare number is blocks.")
            .example("80M")
            .active(),
        Key::new("data.scan_scale", Kind::Size(true, at!(data.scan_scale)))
            .default("0 blocks")
            .doc("Size of each schema's second table, without an index, for full scans.")
            .example("1.5G"),
        Key::new("data.block_size", Kind::BlockSize(at!(data.block_size)))
            .without("the engine's own")
            .doc("Block size: SQLite's page size; on servers, the size that the server must have.")
            .example("8K"),
        Key::new("data.compressible", Kind::Count(0, 100, at!(data.compressible)))
            .default("0")
            .doc("Share of the filler that compresses away.")
            .more("At 0 nothing repeats: storage that compresses or deduplicates shows its true speed.")
            .unit("%")
            .example("50"),
        Key::new("data.seed", Kind::Number(0, u64::MAX, at!(data.seed)))
            .default("42")
            .doc("Seed of keys' order and of filler: the same seed gives the same rows.")
            .example("7"),
        Key::new("data.load_parallel", Kind::Count(1, 256, at!(data.load_parallel)))
            .default("2")
            .doc("Connections that load at the same time.")
            .more("SQLite has one writer and loads with one.")
            .example("8")
            .for_servers(),
    ],
};
