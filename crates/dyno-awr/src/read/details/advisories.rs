//! Layouts of advisories: the effect of other sizes of caches and work areas.

use super::layout::{AwrSectionLayout, layout, name, number, thousands};

pub(super) const LAYOUTS: &[AwrSectionLayout] = &[
    layout(
        &["sgatargetadvisory"],
        "sga_advisory",
        &[
            name(&["sgatargetsizem"]),
            number(&["sgasizefactor"], "size_factor"),
            number(&["estdbtimes"], "db_time_s"),
            number(&["estdbtimefactor"], "db_time_factor").level(),
            number(&["estphysicalreads"], "physical_reads").level(),
        ],
    ),
    layout(
        &["pgamemoryadvisory"],
        "pga_advisory",
        &[
            name(&["pgatargetestmb", "pgaaggrtargetestmb"]),
            number(&["sizefactr"], "size_factor"),
            number(&["w/ambprocessed"], "work_area_mb"),
            number(&["estdextraw/ambread/writtentodisk"], "extra_work_area_mb").level(),
            number(&["estdtimetoprocessbytess"], "time_to_process_s"),
            number(&["estdpcachehit%", "estdpgacachehit%"], "cache_hit_pct"),
            number(&["estdpgaoverallocount", "estdpgaoveralloccount"], "overallocations").level(),
            number(&["estdtime"], "time"),
        ],
    ),
    layout(
        &["sharedpooladvisory"],
        "shared_pool_advisory",
        &[
            name(&["sharedpoolsizem", "sharedpoolsizeforestimm"]),
            number(&["spsizefactr"], "size_factor"),
            number(&["estlcsizem", "estdlibcachesizem"], "library_cache_mb"),
            number(&["estlcmemobj", "estdlibcachememobj"], "library_cache_objects"),
            number(&["estlctimesaveds", "estdlibcachetimesaveds"], "time_saved_s"),
            number(&["estlctimesavedfactr", "estdlctimesavedfactr"], "time_saved_factor").level(),
            number(&["estlcloadtimes"], "load_time_s"),
            number(&["estlcloadtimefactr"], "load_time_factor").level(),
            number(&["estlcmemobjhits", "estdlibcachememobjhits"], "object_hits"),
            thousands(&["estlcmemobjhitsk"], "object_hits"),
        ],
    ),
    layout(
        &["bufferpooladvisory"],
        "buffer_pool_advisory",
        &[
            name(&["p"]),
            name(&["sizeforestm", "sizeforestimatem"]),
            number(&["sizefactor", "sizefactr"], "size_factor"),
            number(&["buffersforestimate"], "buffers"),
            thousands(&["buffersthousands"], "buffers"),
            number(
                &["estphysreadfactor", "estphysreadfactr", "estphysicalreadfactor"],
                "physical_read_factor",
            )
            .level(),
            number(&["estimatedphysicalreads"], "physical_reads"),
            thousands(&["estimatedphysreadsthousands"], "physical_reads"),
            // No release prints its unit.
            number(&["estphysreadtime"], "read_time"),
            number(&["est%dbtimeforrds"], "db_time_pct"),
        ],
    ),
    layout(
        &["javapooladvisory"],
        "java_pool_advisory",
        &[
            name(&["javapoolsizem"]),
            number(&["jpsizefactr"], "size_factor"),
            number(&["estlcsizem"], "library_cache_mb"),
            number(&["estlcmemobj"], "library_cache_objects"),
            number(&["estlctimesaveds"], "time_saved_s"),
            number(&["estlctimesavedfactr"], "time_saved_factor"),
            number(&["estlcloadtimes"], "load_time_s"),
            number(&["estlcloadtimefactr"], "load_time_factor"),
            number(&["estlcmemobjhits"], "object_hits"),
        ],
    ),
];
