//! pgio's parameters, and what a plan says for each.

use super::drive::drive;
use super::options::Options;
use super::psql;
use super::settings::Settings;
use super::sheet::{Fate, Note, Sheet};
use crate::error::PlanErrorKind;
use crate::units::{Bytes, Size};

/// The size of PostgreSQL's blocks, by which pgio turns bytes into rows.
const BLOCK_SIZE: u64 = 8_192;

/// The least rows of a schema.
const SCALE_MIN: u64 = 1_024;

/// Reads all parameters and writes the plan.
pub(super) fn map(read: &mut Settings<'_>, options: &Options) -> Sheet {
    let mut sheet = Sheet::default();
    psql::map(read, &mut sheet, options);
    let rows = data(read, &mut sheet, options);
    load(read, &mut sheet, options, rows);
    run(read, &mut sheet, options);
    sheet
}

/// Reads what the data is; the rows of a schema.
fn data(read: &mut Settings<'_>, sheet: &mut Sheet, options: &Options) -> u64 {
    let schemas = read.whole("NUM_SCHEMAS", 1, (1, 10_000));
    match options.schemas {
        Some(count) => {
            if schemas.is_given() {
                sheet.note("data.schemas", Note::of(&schemas, Fate::Maps, "The option counts."));
            }
            sheet.put("data.schemas", count, Note::option("--schemas", count, ""));
        }
        None => sheet.put("data.schemas", schemas.value, Note::of(&schemas, Fate::Maps, "")),
    }
    let scale = read.size("SCALE", "128G", SCALE_MIN, BLOCK_SIZE);
    let words = match scale.value {
        Size::Blocks(_) => "Rows of each schema, one in each block.",
        Size::Bytes(_) => "The size of each schema, divided by the size of a block: one row in each block.",
    };
    sheet.put("data.scale", scale.value, Note::of(&scale, Fate::Maps, words));
    let base = read.flag("CREATE_BASE_TABLE", "TRUE");
    if base.is_given() {
        let words = "There is no table to copy from: each schema is filled from a seeded stream.";
        sheet.leave(Note::of(&base, Fate::None, words));
    }
    let debug = read.text("PGIO_DEBUG");
    if debug.is_given() {
        sheet.leave(Note::of(&debug, Fate::None, "More talk is `--verbose`."));
    }
    scale.value.blocks(Bytes(BLOCK_SIZE)).0
}

fn load(read: &mut Settings<'_>, sheet: &mut Sheet, options: &Options, scale: u64) {
    let share = read.share("UPDATE_PCT", 0, false);
    sheet.put("workload.update_pct", share.value, Note::of(&share, Fate::Maps, ""));
    let unit = read.whole("WORK_UNIT", 255, (1, 1_000_000));
    let update = read.whole("UPDATE_WORK_UNIT", 255, (1, 1_000_000));
    for unit in [&unit, &update] {
        if unit.value > scale {
            let problem = format!("one operation touches more rows than a schema has, {scale}");
            read.refuse(
                unit,
                PlanErrorKind::Conflict,
                problem,
                format!("lower {}, or raise SCALE", unit.name),
            );
        }
    }
    let (rows, more) = (unit.value, unit.value + 1);
    let words = format!(
        "An operation visits {rows} rows. pgio's interval is closed at both ends: it visits {more}, and counts {rows}."
    );
    sheet.put("workload.work_unit", rows, Note::of(&unit, Fate::Differs, words));
    if share.value > 0 && update.value != rows {
        let words = format!(
            "Updates of a plan touch as many rows as its reads. For updates alone, a run with work_unit = {} and \
             update_pct = 100.",
            update.value
        );
        sheet.leave(Note::of(&update, Fate::None, words));
    } else if update.is_given() {
        let words = if share.value > 0 { "" } else { "There are no updates." };
        sheet.note("workload.work_unit", Note::of(&update, Fate::Maps, words));
    }
    let words = "pgio's loop is one call of a function, hence one transaction: it commits once, at its end. Here each update \
                 is committed. With \"client\", each operation crosses the wire: true response times.";
    drive(sheet, options, words);
}

fn run(read: &mut Settings<'_>, sheet: &mut Sheet, options: &Options) {
    let threads = read.whole("NUM_THREADS", 1, (1, 100_000));
    let parallel = threads.value.min(256);
    let words = "pgio loads so many schemas at the same time.";
    sheet.put("data.load_parallel", parallel, Note::of(&threads, Fate::Maps, words));
    let note = match options.sessions {
        Some(sessions) => Note::option("--sessions", sessions, ""),
        None => Note::of(&threads, Fate::Maps, "And runs so many sessions on each schema."),
    };
    sheet.put("run.sessions_per_schema", options.sessions.map_or(threads.value, u64::from), note);

    let time = read.whole("RUN_TIME", 300, (1, 720 * 3_600));
    let seconds = time.value;
    let words = "The window begins when all sessions are at work. pgio starts its sessions one after the other, reads its \
                 counters before that, and starts its clock after it.";
    sheet.put("run.time", format!("{seconds}s"), Note::of(&time, Fate::Differs, words));
}
