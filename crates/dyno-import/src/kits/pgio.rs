//! Converts pgio's parameters into plan keys.

use super::drive::drive;
use super::options::KitImportOptions;
use super::psql;
use super::settings::KitParameterReader;
use super::sheet::{KitPlanWriter, ParameterMapping, ParameterNote};
use dyno_plan::error::PlanErrorKind;
use dyno_plan::units::{BlocksOrBytes, Bytes};

/// PostgreSQL's block size in bytes; pgio divides table sizes by it to get rows.
const BLOCK_SIZE: u64 = 8_192;

/// The smallest number of rows per schema.
const SCALE_MIN: u64 = 1_024;

/// Reads all parameters and writes the plan.
pub(super) fn map(read: &mut KitParameterReader<'_>, options: &KitImportOptions) -> KitPlanWriter {
    let mut sheet = KitPlanWriter::default();
    psql::map(read, &mut sheet, options);
    let rows = data(read, &mut sheet, options);
    load(read, &mut sheet, options, rows);
    run(read, &mut sheet, options);
    sheet
}

/// Converts the parameters of the data; returns the rows per schema.
fn data(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) -> u64 {
    let schemas = read.whole("NUM_SCHEMAS", 1, (1, 10_000));
    match options.schemas {
        Some(count) => {
            if schemas.is_given() {
                sheet.note(
                    "data.schemas",
                    ParameterNote::of(&schemas, ParameterMapping::Maps, "The option counts."),
                );
            }
            sheet.put("data.schemas", count, ParameterNote::option("--schemas", count, ""));
        }
        None => {
            sheet.put("data.schemas", schemas.value, ParameterNote::of(&schemas, ParameterMapping::Maps, ""));
        }
    }
    let scale = read.size("SCALE", "128G", SCALE_MIN, BLOCK_SIZE);
    let words = match scale.value {
        BlocksOrBytes::Blocks(_) => "Rows of each schema, one in each block.",
        BlocksOrBytes::Bytes(_) => {
            "The size of each schema, divided by the size of a block: one row in each block."
        }
    };
    sheet.put("data.scale", scale.value, ParameterNote::of(&scale, ParameterMapping::Maps, words));
    let base = read.flag("CREATE_BASE_TABLE", "TRUE");
    if base.is_given() {
        let words = "There is no table to copy from: each schema is filled from a seeded stream.";
        sheet.leave(ParameterNote::of(&base, ParameterMapping::None, words));
    }
    let debug = read.text("PGIO_DEBUG");
    if debug.is_given() {
        sheet.leave(ParameterNote::of(&debug, ParameterMapping::None, "More talk is `--verbose`."));
    }
    scale.value.blocks(Bytes(BLOCK_SIZE)).0
}

fn load(
    read: &mut KitParameterReader<'_>,
    sheet: &mut KitPlanWriter,
    options: &KitImportOptions,
    scale: u64,
) {
    let share = read.share("UPDATE_PCT", 0, false);
    sheet.put("workload.update_pct", share.value, ParameterNote::of(&share, ParameterMapping::Maps, ""));
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
    sheet.put("workload.work_unit", rows, ParameterNote::of(&unit, ParameterMapping::Differs, words));
    if share.value > 0 && update.value != rows {
        let words = format!(
            "Updates of a plan touch as many rows as its reads. For updates alone, a run with work_unit = {} and \
             update_pct = 100.",
            update.value
        );
        sheet.leave(ParameterNote::of(&update, ParameterMapping::None, words));
    } else if update.is_given() {
        let words = if share.value > 0 { "" } else { "There are no updates." };
        sheet.note("workload.work_unit", ParameterNote::of(&update, ParameterMapping::Maps, words));
    }
    let words = "pgio's loop is one call of a function, hence one transaction: it commits once, at its end. Here each update \
                 is committed. With \"client\", each operation crosses the wire: true response times.";
    drive(sheet, options, words);
}

fn run(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) {
    let threads = read.whole("NUM_THREADS", 1, (1, 100_000));
    let parallel = threads.value.min(256);
    let words = "pgio loads so many schemas at the same time.";
    sheet.put("data.load_parallel", parallel, ParameterNote::of(&threads, ParameterMapping::Maps, words));
    let note = match options.sessions {
        Some(sessions) => ParameterNote::option("--sessions", sessions, ""),
        None => {
            ParameterNote::of(&threads, ParameterMapping::Maps, "And runs so many sessions on each schema.")
        }
    };
    sheet.put("run.sessions_per_schema", options.sessions.map_or(threads.value, u64::from), note);

    let time = read.whole("RUN_TIME", 300, (1, 720 * 3_600));
    let seconds = time.value;
    let words = "The window begins when all sessions are at work. pgio starts its sessions one after the other, reads its \
                 counters before that, and starts its clock after it.";
    sheet.put("run.time", format!("{seconds}s"), ParameterNote::of(&time, ParameterMapping::Differs, words));
}
