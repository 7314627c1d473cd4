//! Layouts of ADDM findings and of sampled session activity (ASH). Samples have no totals, so only
//! shares are compared.

use super::layout::{AwrSectionLayout, grouped, layout, name, number, object, skipped};

pub(super) const LAYOUTS: &[AwrSectionLayout] = &[
    layout(
        &["topaddmfindingsbyaverageactivesessions"],
        "addm_findings",
        &[
            name(&["findingname"]),
            number(&["avgactivesessionsofthetask", "avgact"], "task_active_sessions"),
            number(&["percentactivesessionsoffinding", "percen"], "active_sessions_pct").level(),
            skipped(&["taskname"]),
            skipped(&["beginsnaptime"]),
            skipped(&["endsnaptime"]),
        ],
    ),
    layout(
        &["topevents"],
        "ash_events",
        &[
            name(&["event"]),
            skipped(&["eventclass"]),
            name(&["sessiontype"]),
            number(&["%activity"], "activity_pct").level(),
            number(&["avgactivesessions"], "active_sessions").level(),
        ],
    ),
    layout(
        &["topsqlwithtopevents"],
        "ash_statements",
        &[
            name(&["sqlid"]),
            skipped(&["planhash"]),
            number(&["executions"], "sampled_executions"),
            number(&["%activity"], "activity_pct"),
            // Text continues with further events below the statement's text. Only the first one is
            // read there, so this is not compared.
            name(&["event"]),
            number(&["%event"], "event_pct"),
            skipped(&["toprowsource"]),
            number(&["%rowsource"], "row_source_pct"),
            skipped(&["sqltext"]),
            name(&["containername"]),
        ],
    ),
    layout(
        &["topsessions"],
        "ash_sessions",
        &[
            name(&["sidserial#"]),
            number(&["%activity"], "activity_pct"),
            name(&["event"]),
            number(&["%event"], "event_pct"),
            object(&["user"]),
            object(&["program"]),
            skipped(&["#samplesactive"]),
            number(&["xids"], "transactions"),
        ],
    ),
    layout(
        &["topblockingsessions"],
        "ash_blockers",
        &[
            name(&["blockingsidinst"]),
            number(&["%activity"], "activity_pct"),
            name(&["eventcaused"]),
            number(&["%event"], "event_pct"),
            object(&["user"]),
            object(&["program"]),
            skipped(&["#samplesactive"]),
            number(&["xids"], "transactions"),
        ],
    ),
    layout(
        &["topdbobjects"],
        "ash_objects",
        &[
            name(&["objectid"]),
            number(&["%activity"], "activity_pct"),
            name(&["event"]),
            number(&["%event"], "event_pct").level(),
            object(&["objectnametype"]),
            object(&["tablespace"]),
            name(&["containername"]),
        ],
    ),
    grouped(
        &["activityovertime"],
        "ash_slots",
        &[
            name(&["slottimeduration"]),
            number(&["slotcount"], "slot_samples"),
            name(&["event"]),
            number(&["eventcount"], "event_samples"),
            number(&["%event"], "event_pct"),
        ],
    ),
];
