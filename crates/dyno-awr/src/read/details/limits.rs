//! Layouts of the instance's limits, and of rollback segments, which preceded automatic undo
//! management.

use super::layout::{AwrSectionLayout, layout, name, number};

pub(super) const LAYOUTS: &[AwrSectionLayout] = &[
    layout(
        &["resourcelimitstats", "resourcelimitstatistics"],
        "resource_limits",
        &[
            name(&["resourcename"]),
            number(&["currentutilization"], "current").level(),
            number(&["maximumutilization"], "maximum").level(),
            number(&["initialallocation"], "initial"),
            number(&["limit"], "limit"),
        ],
    ),
    layout(
        &["rollbacksegmentstats", "rollbacksegmentstat"],
        "rollback_segments",
        &[
            name(&["rbsno"]),
            number(&["transtablegets"], "table_gets").total(),
            number(&["pctwaits"], "wait_pct").level(),
            number(&["undobyteswritten"], "undo_bytes").total(),
            number(&["wraps"], "wraps").total(),
            number(&["shrinks"], "shrinks").total(),
            number(&["extends"], "extends").total(),
        ],
    ),
    layout(
        &["rollbacksegmentstorage"],
        "rollback_segment_sizes",
        &[
            name(&["rbsno"]),
            number(&["segmentsize"], "bytes").level(),
            number(&["avgactive"], "mean_active_bytes").level(),
            number(&["optimalsize"], "optimal_bytes"),
            number(&["maximumsize"], "max_bytes"),
        ],
    ),
];
