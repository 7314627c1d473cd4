//! Converts SLOB's parameters, versions 2.0 to 2.5, into plan keys.
//!
//! Ranges and defaults are those of SLOB 2.5; a parameter that only older versions have keeps theirs.

use super::drive::drive;
use super::options::KitImportOptions;
use super::service;
use super::settings::{KitParameter, KitParameterReader};
use super::sheet::{KitPlanWriter, ParameterMapping, ParameterNote};
use dyno_plan::error::PlanErrorKind;
use dyno_plan::units::{BlockCount, BlocksOrBytes, Bytes};

/// Parameters that pgio does not have; they identify files of SLOB.
pub(super) const ONLY: [&str; 24] = [
    "SCAN_PCT",
    "WORK_LOOP",
    "SCAN_TABLE_SZ",
    "REDO_STRESS",
    "LOAD_PARALLEL_DEGREE",
    "THREADS_PER_SCHEMA",
    "DATABASE_STATISTICS_TYPE",
    "ADMIN_SQLNET_SERVICE",
    "SQLNET_SERVICE_BASE",
    "SQLNET_SERVICE_MAX",
    "DBA_PRIV_USER",
    "SYSDBA_PASSWD",
    "EXTERNAL_SCRIPT",
    "DO_HOTSPOT",
    "HOTSPOT_MB",
    "HOTSPOT_OFFSET_MB",
    "HOTSPOT_FREQUENCY",
    "HOT_SCHEMA_FREQUENCY",
    "THINK_TM_FREQUENCY",
    "OBFUSCATE_COLUMNS",
    "SHARED_DATA_MODULUS",
    "DO_UPDATE_HOTSPOT",
    "HOTSPOT_PCT",
    "THINK_TM_MODULUS",
];

/// The largest number of sessions that SLOB starts.
const SESSIONS_MAX: u64 = 4_096;

/// The smallest number of rows per schema.
const SCALE_MIN: u64 = 10_000;

/// Reads all parameters and writes the plan.
pub(super) fn map(read: &mut KitParameterReader<'_>, options: &KitImportOptions) -> KitPlanWriter {
    let mut sheet = KitPlanWriter::default();
    let block_size = block_size(read, &mut sheet);
    service::map(read, &mut sheet, options);
    let scale = data(read, &mut sheet, options, block_size);
    load(read, &mut sheet, options);
    hot_spot(read, &mut sheet, block_size, scale);
    older_spots(read, &mut sheet);
    think(read, &mut sheet);
    length(read, &mut sheet);
    sessions(read, &mut sheet, options);
    around(read, &mut sheet, options);
    sheet
}

/// Reads `BLOCK_SZ`, which SLOB takes from its environment or file. It converts bytes into rows.
fn block_size(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter) -> u64 {
    let size = read.whole("BLOCK_SZ", 8_192, (2_048, 32_768));
    if !size.is_given() {
        return size.value;
    }
    if !size.value.is_power_of_two() || size.value < 4_096 {
        let hint =
            "write 4096, 8192, 16384 or 32768; with blocks of 2 KiB, write SCALE as a number of blocks";
        read.refuse(&size, PlanErrorKind::Range, "not a block size that a plan can ask for", hint);
    } else {
        sheet.put("data.block_size", Bytes(size.value), ParameterNote::of(&size, ParameterMapping::Maps, ""));
    }
    size.value
}

fn data(
    read: &mut KitParameterReader<'_>,
    sheet: &mut KitPlanWriter,
    options: &KitImportOptions,
    block_size: u64,
) -> BlocksOrBytes {
    let schemas = options.schemas.unwrap_or(1);
    let words = match options.schemas {
        Some(_) => "",
        None => "The file does not say how many: it is the argument of runit.sh, or its -s.",
    };
    sheet.put("data.schemas", schemas, ParameterNote::option("--schemas", schemas, words));

    let scale = read.size("SCALE", "10000", SCALE_MIN, block_size);
    sheet.put("data.scale", scale.value, per_schema(&scale));

    let scan = read.size("SCAN_TABLE_SZ", "1M", 1, block_size);
    let share = read.share("SCAN_PCT", 0, true);
    if scan.is_given() || share.value > 0 {
        sheet.put("data.scan_scale", scan.value, ParameterNote::of(&scan, ParameterMapping::Maps, ""));
    }
    sheet.put(
        "workload.scan_pct",
        share.value,
        ParameterNote::of(&share, ParameterMapping::Maps, "A share of the reads, as there."),
    );

    let parallel = read.whole("LOAD_PARALLEL_DEGREE", 2, (1, 256));
    sheet.put("data.load_parallel", parallel.value, ParameterNote::of(&parallel, ParameterMapping::Maps, ""));

    let obfuscate = read.flag("OBFUSCATE_COLUMNS", "FALSE");
    if obfuscate.value {
        sheet.put(
            "data.compressible",
            0,
            ParameterNote::of(&obfuscate, ParameterMapping::Maps, "Nothing repeats."),
        );
    } else {
        let words = "SLOB then fills all rows with the same text, which storage that compresses or deduplicates makes \
                     nothing of. Here nothing repeats; raise this to let a share of it compress.";
        sheet.put("data.compressible", 0, ParameterNote::of(&obfuscate, ParameterMapping::Differs, words));
    }
    scale.value
}

fn per_schema(scale: &KitParameter<BlocksOrBytes>) -> ParameterNote {
    let words = match scale.value {
        BlocksOrBytes::Blocks(_) => "Rows of each schema, one in each block.",
        BlocksOrBytes::Bytes(_) => {
            "The size of each schema, divided by the size of a block: one row in each block."
        }
    };
    ParameterNote::of(scale, ParameterMapping::Maps, words)
}

fn load(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) {
    let share = read.share("UPDATE_PCT", 25, true);
    let (fate, words) = match share.value {
        0 | 100 => (ParameterMapping::Maps, ""),
        _ => (
            ParameterMapping::Differs,
            "Each operation is drawn independently. SLOB draws from a window of 100 operations, and its updates come first.",
        ),
    };
    sheet.put("workload.update_pct", share.value, ParameterNote::of(&share, fate, words));

    let unit = read.whole("WORK_UNIT", 256, (3, 1_024));
    let (rows, less) = (unit.value, unit.value - 1);
    let words = format!(
        "An operation visits {rows} rows. SLOB's interval is open at both ends: it visits {less}, and counts {rows}."
    );
    sheet.put("workload.work_unit", rows, ParameterNote::of(&unit, ParameterMapping::Differs, words));

    let redo = read.word("REDO_STRESS", "LITE", &["LITE", "HEAVY"]);
    let words = "Two columns or all nineteen, as there. Every update writes a value that differs from the old one; SLOB \
                 writes the same one again, for which newer versions of Oracle write less redo.";
    let word = redo.value.to_ascii_lowercase();
    sheet.put("workload.redo", word, ParameterNote::of(&redo, ParameterMapping::Differs, words));
    let words = "SLOB's loop runs inside the database, in PL/SQL, which does not wait for the log at each commit. With \
                 \"client\", each operation crosses the wire: true response times, true commits.";
    drive(sheet, options, words);
    if service::is_oracle(options) {
        sheet.put_bare("workload.commit", "plsql");
        let words = "SLOB's commits, which Oracle optimizes within PL/SQL. \"wait\" makes each of them wait for its redo.";
        sheet.note("workload.commit", ParameterNote::method(words));
    }
}

/// Converts the hot spot of versions 2.3 and later.
fn hot_spot(
    read: &mut KitParameterReader<'_>,
    sheet: &mut KitPlanWriter,
    block_size: u64,
    scale: BlocksOrBytes,
) {
    let on = read.flag("DO_HOTSPOT", "FALSE");
    let size = read.whole("HOTSPOT_MB", 10, (1, 1_000 << 20));
    let offset = read.whole("HOTSPOT_OFFSET_MB", 0, (0, 1_000 << 20));
    let every = read.whole("HOTSPOT_FREQUENCY", 0, (0, 1_000_000));
    if !on.value || every.value == 0 {
        let words = if on.value { "Off: its frequency is 0." } else { "Off." };
        for (is_given, note) in [
            (on.is_given(), ParameterNote::of(&on, ParameterMapping::Maps, words)),
            (every.is_given(), ParameterNote::of(&every, ParameterMapping::Maps, words)),
            (size.is_given(), ParameterNote::of(&size, ParameterMapping::Maps, words)),
            (offset.is_given(), ParameterNote::of(&offset, ParameterMapping::Maps, words)),
        ] {
            if is_given {
                sheet.note("workload.hot_spot_every", note);
            }
        }
        return;
    }
    // Use the unit of the scale: with another block size, a size in bytes and a scale in blocks would disagree.
    let bytes = |mib: u64| BlocksOrBytes::Bytes(Bytes(mib << 20));
    let in_unit = |mib: u64| match scale {
        BlocksOrBytes::Blocks(_) => BlocksOrBytes::Blocks(BlockCount((mib << 20) / block_size)),
        BlocksOrBytes::Bytes(_) => bytes(mib),
    };
    let rows = scale.blocks(Bytes(block_size)).0;
    let end = bytes(offset.value + size.value).blocks(Bytes(block_size)).0;
    if end > rows {
        let problem = format!("with HOTSPOT_OFFSET_MB it ends at block {end}, but SCALE is {rows} blocks");
        read.refuse(
            &size,
            PlanErrorKind::Conflict,
            problem,
            "lower HOTSPOT_MB or HOTSPOT_OFFSET_MB, or raise SCALE",
        );
    }
    sheet.note("workload.hot_spot_every", ParameterNote::of(&on, ParameterMapping::Maps, ""));
    sheet.put("workload.hot_spot_every", every.value, ParameterNote::of(&every, ParameterMapping::Maps, ""));
    sheet.put(
        "workload.hot_spot_offset",
        in_unit(offset.value),
        ParameterNote::of(&offset, ParameterMapping::Maps, ""),
    );
    sheet.put(
        "workload.hot_spot_size",
        in_unit(size.value),
        ParameterNote::of(&size, ParameterMapping::Maps, ""),
    );
}

/// Converts what versions 2.0 to 2.2 had instead of hot spot and hot schema, and the hot schema of later versions.
fn older_spots(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter) {
    let every = read.whole("HOT_SCHEMA_FREQUENCY", 0, (0, 1_000_000));
    let shared = read.whole("SHARED_DATA_MODULUS", 0, (0, 1_000_000));
    one_of(read, &every, &shared);
    for setting in [every, shared].iter().filter(|setting| setting.value > 0 || setting.is_given()) {
        let words = if setting.value == 0 { "Off." } else { "" };
        let note = ParameterNote::of(setting, ParameterMapping::Maps, words);
        match setting.value {
            0 => sheet.note("workload.hot_schema_every", note),
            every => sheet.put("workload.hot_schema_every", every, note),
        }
    }

    let on = read.flag("DO_UPDATE_HOTSPOT", "FALSE");
    let share = read.whole("HOTSPOT_PCT", 10, (1, 100));
    let words = if on.value {
        "Updates alone stay within a share of each schema; a hot spot of a plan takes operations of all classes."
    } else {
        "Off."
    };
    for (is_given, note) in [
        (on.is_given(), ParameterNote::of(&on, ParameterMapping::None, words)),
        (share.is_given(), ParameterNote::of(&share, ParameterMapping::None, words)),
    ] {
        if is_given {
            sheet.leave(note);
        }
    }
}

/// Checks a parameter with a new and an old name: setting both is an error.
fn one_of(read: &mut KitParameterReader<'_>, later: &KitParameter<u64>, older: &KitParameter<u64>) {
    if later.value > 0 && older.value > 0 {
        let problem = format!("{} says the same of a later version", later.name);
        read.refuse(older, PlanErrorKind::Conflict, problem, "keep one of the two");
    }
}

fn think(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter) {
    let every = read.whole("THINK_TM_FREQUENCY", 0, (0, 1_000_000));
    let older = read.whole("THINK_TM_MODULUS", 0, (0, 1_000_000));
    let least = read.seconds("THINK_TM_MIN", ".1");
    let most = read.seconds("THINK_TM_MAX", ".5");
    one_of(read, &every, &older);
    if least.value > most.value {
        let problem = format!("longer than THINK_TM_MAX, {}", most.written);
        read.refuse(&least, PlanErrorKind::Conflict, problem, "exchange the two");
    }
    let is_on = every.value > 0 || older.value > 0;
    for setting in [every, older].iter().filter(|setting| setting.is_given() || setting.value > 0) {
        match setting.value {
            0 => {
                sheet
                    .note("workload.think_every", ParameterNote::of(setting, ParameterMapping::Maps, "Off."));
            }
            every => {
                let words = "On average one operation in so many, drawn independently each time.";
                sheet.put(
                    "workload.think_every",
                    every,
                    ParameterNote::of(setting, ParameterMapping::Maps, words),
                );
            }
        }
    }
    for (key, setting) in [("workload.think_min", least), ("workload.think_max", most)] {
        if is_on || setting.is_given() {
            sheet.put(
                key,
                setting.value,
                ParameterNote::of(&setting, ParameterMapping::Maps, "Seconds there."),
            );
        }
    }
}

fn length(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter) {
    let time = read.whole("RUN_TIME", 300, (30, 720 * 3_600));
    let loops = read.whole("WORK_LOOP", 0, (0, dyno_plan::keys::BLOCKS_MAX));
    let words = "SLOB takes its first snapshot 30 s after its sessions have begun.";
    sheet.put_bare("run.warmup", "30s");
    sheet.note("run.warmup", ParameterNote::method(words));
    let seconds = time.value;
    if loops.value > 0 {
        let words = "Each session does so many operations.";
        sheet.put(
            "run.ops_per_session",
            loops.value,
            ParameterNote::of(&loops, ParameterMapping::Maps, words),
        );
        let words =
            "It ends SLOB's sessions that have not done WORK_LOOP operations by then; here all of them do.";
        sheet.leave(ParameterNote::of(&time, ParameterMapping::None, words));
        return;
    }
    if loops.is_given() {
        sheet.note("run.time", ParameterNote::of(&loops, ParameterMapping::Maps, "The time counts."));
    }
    let words = format!(
        "The window is {seconds} s long, with all sessions at work from its begin to its end. SLOB's sessions stop {seconds} s \
         after they began, and its snapshots are taken 30 s after that begin and after the last session has ended."
    );
    sheet.put("run.time", format!("{seconds}s"), ParameterNote::of(&time, ParameterMapping::Differs, words));
}

fn sessions(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) {
    let threads = read.whole("THREADS_PER_SCHEMA", 1, (1, SESSIONS_MAX));
    let note = match options.sessions {
        Some(sessions) => {
            if threads.is_given() {
                let words = "The option counts, as -t of runit.sh does.";
                sheet.note(
                    "run.sessions_per_schema",
                    ParameterNote::of(&threads, ParameterMapping::Maps, words),
                );
            }
            ParameterNote::option("--sessions", sessions, "")
        }
        None => ParameterNote::of(&threads, ParameterMapping::Maps, ""),
    };
    let sessions_per_schema = options.sessions.map_or(threads.value, u64::from);
    let all = sessions_per_schema.saturating_mul(options.schemas.unwrap_or(1).into());
    if all > SESSIONS_MAX {
        let problem = format!("all schemas together have {all} sessions, more than SLOB's {SESSIONS_MAX}");
        let hint =
            "lower it or --schemas; for more, import with less and raise run.sessions_per_schema in the plan";
        read.refuse(&threads, PlanErrorKind::Conflict, problem, hint);
    }
    sheet.put("run.sessions_per_schema", sessions_per_schema, note);
}

/// Converts scripts, statistics and switches around a run.
fn around(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) {
    let statistics = read.word("DATABASE_STATISTICS_TYPE", "statspack", &["statspack", "awr"]);
    if statistics.is_given() && service::is_oracle(options) {
        let words = "The same, a run without it is refused; Dyno's own counters are read in any case, over exactly the window. \
                     AWR needs the Diagnostics Pack, which costs a licence: \"off\" touches nothing of it.";
        let keeper = statistics.value;
        sheet.put("observe.awr", keeper, ParameterNote::of(&statistics, ParameterMapping::Maps, words));
    } else if statistics.is_given() {
        let words = "Dyno reads counters, waits and settings itself, over exactly the window.";
        sheet.leave(ParameterNote::of(&statistics, ParameterMapping::None, words));
    }
    let script = read.text("EXTERNAL_SCRIPT");
    if let Some(path) = &script.value {
        hooks(read, sheet, &script, path);
    }
    let quiet = read.text("NO_OS_PERF_DATA");
    if quiet.is_given() {
        let words = "The host is always watched; it costs next to nothing.";
        sheet.leave(ParameterNote::of(&quiet, ParameterMapping::None, words));
    }
    for (name, words) in [
        ("SLOB_DEBUG", "More talk is `--verbose`."),
        ("SLOB_TEMPDIR", "Dyno writes no temporary files."),
        ("OS_TEMP", "Dyno writes no temporary files."),
    ] {
        let setting = read.text(name);
        if setting.is_given() {
            sheet.leave(ParameterNote::of(&setting, ParameterMapping::None, words));
        }
    }
}

/// Converts a script that SLOB calls three times with an argument that names the moment.
fn hooks(
    read: &mut KitParameterReader<'_>,
    sheet: &mut KitPlanWriter,
    script: &KitParameter<Option<String>>,
    path: &str,
) {
    if path.chars().any(char::is_control) {
        read.refuse(script, PlanErrorKind::Range, "not the name of a script", "write the path of one file");
        return;
    }
    let quoted = format!("'{}'", path.replace('\'', "'\\''"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,".contains(c);
    let word = if path.chars().all(plain) { path } else { quoted.as_str() };
    for (key, when, words) in [
        ("hooks.pre", "pre", "Called before the sessions start. A plan waits for its end; SLOB does not."),
        ("hooks.post", "post", "Called after the window. A plan waits for its end; SLOB does not."),
        ("hooks.end", "end", "Called when all is done. In a sweep a plan calls it once, after the last run."),
    ] {
        sheet.put(
            key,
            format!("sh {word} {when}"),
            ParameterNote::of(script, ParameterMapping::Differs, words),
        );
    }
}
