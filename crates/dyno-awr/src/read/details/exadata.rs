//! Layouts of the sections about Exadata's storage servers.

use super::layout::{AwrSectionLayout, grouped, milliseconds, name, number};
use crate::number::TimeUnit::Ms;

pub(super) const LAYOUTS: &[AwrSectionLayout] = &[
    grouped(
        &["smartio"],
        "smart_io",
        &[
            name(&["cellname"]),
            number(&["mbrequested%total"], "total_pct"),
            number(&["mbrequestedtotal"], "requested_mb").total(),
            number(&["mbrequestedpersec"], "requested_mb_per_s"),
            number(&["storageindexmb"], "storage_index_mb").total(),
            number(&["storageindex%optimized"], "storage_index_pct"),
            number(&["flashcachemb"], "flash_cache_mb").total(),
            number(&["flashcache%optimized"], "flash_cache_pct"),
            number(&["offloadmb"], "offload_mb").total(),
            number(&["offload%efficiency"], "offload_pct").level(),
            number(&["passthrumb"], "passthrough_mb").total(),
            number(&["passthru%passthru"], "passthrough_pct"),
            number(&["reverseoffloadmb"], "reverse_offload_mb").total(),
            number(&["reverseoffload%reverseoffload"], "reverse_offload_pct"),
        ],
    ),
    grouped(
        &["exadatacellserveriopsstatisticstopcells"],
        "cell_iops",
        &[
            name(&["disktype"]),
            name(&["cellname"]),
            number(&["iops%total"], "total_pct"),
            number(&["iopsaverage", "averagepersecondaverage"], "io_per_s").level(),
            number(&["averagepersecondsmallreads"], "small_reads_per_s"),
            number(&["averagepersecondsmallwrites"], "small_writes_per_s"),
            number(&["averagepersecondlargereads"], "large_reads_per_s"),
            number(&["averagepersecondlargewrites"], "large_writes_per_s"),
        ],
    ),
    grouped(
        &["exadatacellserveriomb/sstatisticstopcells"],
        "cell_throughput",
        &[
            name(&["disktype"]),
            name(&["cellname"]),
            number(&["iomb/s%total"], "total_pct"),
            number(&["iomb/saverage", "averagemb/saverage"], "mb_per_s").level(),
            number(&["averagemb/ssmallreads"], "small_read_mb_per_s"),
            number(&["averagemb/ssmallwrites"], "small_write_mb_per_s"),
            number(&["averagemb/slargereads"], "large_read_mb_per_s"),
            number(&["averagemb/slargewrites"], "large_write_mb_per_s"),
        ],
    ),
    grouped(
        &["exadatacellserveriolatencytopcells"],
        "cell_latency",
        &[
            name(&["disktype"]),
            name(&["cellname"]),
            milliseconds(&["averagetimesmscelllatency", "averagetimescelllatency"], "ms", Ms).level(),
            milliseconds(&["averagetimesmssmallread", "averagetimessmallread"], "small_read_ms", Ms),
            milliseconds(&["averagetimesmssmallwrite", "averagetimessmallwrite"], "small_write_ms", Ms),
            milliseconds(&["averagetimesmslargeread", "averagetimeslargeread"], "large_read_ms", Ms),
            milliseconds(&["averagetimesmslargewrite", "averagetimeslargewrite"], "large_write_ms", Ms),
        ],
    ),
];
