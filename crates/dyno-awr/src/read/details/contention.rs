//! Layouts of shared pool caches, latches, mutexes, enqueues and buffer waits.

use super::layout::{AwrSectionLayout, layout, name, number, parts};

pub(super) const LAYOUTS: &[AwrSectionLayout] = &[
    layout(
        &["librarycacheactivity"],
        "library_cache",
        &[
            name(&["namespace"]),
            number(&["getrequests"], "get_requests").total(),
            number(&["pctmiss"], "get_miss_pct"),
            number(&["pinrequests"], "pin_requests"),
            number(&["pctmiss"], "pin_miss_pct"),
            number(&["reloads"], "reloads").total(),
            number(&["invalidations"], "invalidations").total(),
            number(&["geslockrequests"], "ges_lock_requests"),
            number(&["gespinrequests"], "ges_pin_requests"),
            number(&["gespinreleases"], "ges_pin_releases"),
            number(&["gesinvalrequests"], "ges_invalidation_requests"),
            number(&["gesinvalidations"], "ges_invalidations"),
        ],
    ),
    layout(
        &["librarycacheactivityrac"],
        "library_cache_rac",
        &[
            name(&["namespace"]),
            number(&["geslockrequests"], "ges_lock_requests").total(),
            number(&["gespinrequests"], "ges_pin_requests").total(),
            number(&["gespinreleases"], "ges_pin_releases"),
            number(&["gesinvalrequests"], "ges_invalidation_requests"),
            number(&["gesinvalidations"], "ges_invalidations").total(),
        ],
    ),
    layout(
        &["dictionarycachestats"],
        "dictionary_cache",
        &[
            name(&["cache"]),
            number(&["getrequests"], "get_requests").total(),
            number(&["pctmiss"], "get_miss_pct"),
            number(&["scanreqs"], "scan_requests"),
            number(&["pctmiss"], "scan_miss_pct"),
            number(&["modreqs"], "modifications").total(),
            number(&["finalusage"], "entries_at_end"),
        ],
    ),
    layout(
        &["dictionarycachestatsrac"],
        "dictionary_cache_rac",
        &[
            name(&["cache"]),
            number(&["gesrequests"], "ges_requests").total(),
            number(&["gesconflicts"], "ges_conflicts").total(),
            number(&["gesreleases"], "ges_releases"),
        ],
    ),
    layout(
        &["enqueueactivity"],
        "enqueues",
        &[
            name(&["enqueuetyperequestreason", "eq"]),
            number(&["requests"], "requests"),
            number(&["succgets"], "successful_gets"),
            number(&["failedgets"], "failed_gets"),
            number(&["waits"], "waits").total(),
            number(&["wttimes", "waittimes"], "wait_s").total(),
            number(&["avwttimems", "avgwttimems"], "mean_wait_ms"),
        ],
    ),
    layout(
        &["bufferwaitstatistics"],
        "buffer_waits",
        &[
            name(&["class"]),
            number(&["waits"], "waits").total(),
            number(&["totalwaittimes", "totwaittimes"], "wait_s").total(),
            number(&["avgtimems"], "mean_wait_ms"),
        ],
    ),
    layout(
        &["latchactivity"],
        "latches",
        &[
            name(&["latchname", "latch"]),
            number(&["getrequests"], "get_requests"),
            number(&["pctgetmiss"], "get_miss_pct"),
            number(&["avgslps/miss"], "sleeps_per_miss"),
            number(&["waittimes"], "wait_s").total(),
            number(&["nowaitrequests"], "nowait_requests"),
            number(&["pctnowaitmiss"], "nowait_miss_pct"),
        ],
    ),
    layout(
        &["latchsleepbreakdown"],
        "latch_sleeps",
        &[
            name(&["latchname"]),
            number(&["getrequests"], "get_requests"),
            number(&["misses"], "misses").total(),
            number(&["sleeps"], "sleeps").total(),
            number(&["spingets"], "spin_gets"),
            parts(
                &["spinsleeps1>3", "spinsleeps1>4"],
                &["spin_gets", "sleeps_1", "sleeps_2", "sleeps_3", "sleeps_4"],
            ),
        ],
    ),
    layout(
        &["mutexsleepsummary"],
        "mutex_sleeps",
        &[
            name(&["mutextype"]),
            name(&["location"]),
            number(&["sleeps"], "sleeps").total(),
            number(&["waittimems"], "wait_ms").total(),
        ],
    ),
];
