//! Contains every statement of the engine: one file per purpose in `sql/`, whose comment states what it needs
//! and returns.
//!
//! Values are passed by binds only. Braces mark what cannot be bound: the number of a schema, names of Dyno's
//! own objects, column lists, the view, the commit mode. [`OracleSqlFile::with`] inserts them and accepts only
//! characters that cannot end a name.

/// One statement from a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct OracleSqlFile {
    /// The file's name without its extension.
    #[cfg(test)]
    pub(super) name: &'static str,
    /// The file's contents, including its comment.
    text: &'static str,
}

macro_rules! statements {
    ($($constant:ident = $file:literal;)*) => {
        $(pub(super) const $constant: OracleSqlFile =
            OracleSqlFile { #[cfg(test)] name: $file, text: include_str!(concat!("sql/", $file, ".sql")) };)*

        /// All statements of the engine.
        #[cfg(test)]
        pub(super) const ALL: &[OracleSqlFile] = &[$($constant),*];
    };
}

statements! {
    AWR_GLOBAL_REPORT = "awr_global_report";
    AWR_PACK = "awr_pack";
    AWR_REPORT = "awr_report";
    AWR_SNAPSHOT = "awr_snapshot";
    AWR_WHERE = "awr_where";
    BROKEN_CALL = "broken_call";
    BUFFER_CACHE = "buffer_cache";
    CLEAR_TABLES = "clear_tables";
    COMMENT = "comment";
    COMPILATION_ERRORS = "compilation_errors";
    COPY_ROWS = "copy_rows";
    COUNT_FEW = "count_few";
    COUNT_SECONDARY = "count_secondary";
    COUNTERS_EVENTS = "counters_events";
    COUNTERS_FILES = "counters_files";
    COUNTERS_HISTOGRAM = "counters_histogram";
    COUNTERS_OSSTAT = "counters_osstat";
    COUNTERS_OBSERVER = "counters_observer";
    COUNTERS_OTHERS = "counters_others";
    COUNTERS_SHAPE = "counters_shape";
    COUNTERS_SYSSTAT = "counters_sysstat";
    COUNTERS_TIME_MODEL = "counters_time_model";
    CREATE_CHUNKS = "create_chunks";
    CREATE_INDEX = "create_index";
    CREATE_META = "create_meta";
    CREATE_OBJECTS = "create_objects";
    CREATE_TABLE = "create_table";
    CREATE_TABLES = "create_tables";
    CURSOR_COUNTS = "cursor_counts";
    CURSOR_TEXTS = "cursor_texts";
    DATABASE = "database";
    DELETE = "delete";
    DELETE_PLSQL = "delete_plsql";
    DROP_TABLE = "drop_table";
    FIND_INDEX = "find_index";
    FIND_TABLE = "find_table";
    FORGET_OBJECT = "forget_object";
    FOUND = "found";
    FREE_SPACE = "free_space";
    FRESH = "fresh";
    GATHER_STATISTICS = "gather_statistics";
    INDEX_THERE = "index_there";
    INSERT = "insert";
    INSERT_PLSQL = "insert_plsql";
    INSERT_ROWS = "insert_rows";
    INSTANCE = "instance";
    INSTANCES = "instances";
    IO_CALIBRATE = "io_calibrate";
    ISOLATION = "isolation";
    LOCK_HOLDER = "lock_holder";
    LOCK_SERVER_HOLDER = "lock_server_holder";
    LOCK_TAKE = "lock_take";
    LOOKUP = "lookup";
    MARK_SOCKET = "mark_socket";
    MEASURE_ROWS = "measure_rows";
    MEASURE_TABLE = "measure_table";
    NFS_SERVERS = "nfs_servers";
    NOTE_CHUNK = "note_chunk";
    NOTE_META = "note_meta";
    NOTE_META_NOW = "note_meta_now";
    NOTE_OBJECT = "note_object";
    NOTE_TABLE = "note_table";
    OTHERS = "others";
    OWN_COMMITS = "own_commits";
    OWN_PLACES = "own_places";
    OWN_ROWS = "own_rows";
    PDB_MODE = "pdb_mode";
    PRIVILEGES = "privileges";
    PROFILE_LIMITS = "profile_limits";
    QUOTA = "quota";
    READ_CHUNKS = "read_chunks";
    READ_META = "read_meta";
    READ_OBJECTS = "read_objects";
    READ_TABLES = "read_tables";
    REDO_LOGS = "redo_logs";
    SAMPLE_ALL = "sample_all";
    SAMPLE_OTHERS = "sample_others";
    SAMPLE_WAITS = "sample_waits";
    SCAN = "scan";
    SECONDARY = "secondary";
    SEEN = "seen";
    SELECT = "select";
    SESSION_COUNTS = "session_counts";
    SESSION_FORMATS = "session_formats";
    SESSION_NOWAIT = "session_nowait";
    SESSION_WAIT = "session_wait";
    SESSIONS_PER_USER = "sessions_per_user";
    SETTINGS = "settings";
    SHOW_PLAN = "show_plan";
    SLICE_LOOKUP = "slice_lookup";
    SLICE_MIXED = "slice_mixed";
    SLICE_SCAN = "slice_scan";
    SLICE_SECONDARY = "slice_secondary";
    SLICE_SELECT = "slice_select";
    SLICE_UPDATE = "slice_update";
    SPOT_BLOCKS = "spot_blocks";
    SPOT_CONSTRAINTS = "spot_constraints";
    SPOT_INDEXES = "spot_indexes";
    SPOT_KEY = "spot_key";
    SPOT_LARGEST = "spot_largest";
    SPOT_SMALLEST = "spot_smallest";
    SPOT_TRIGGERS = "spot_triggers";
    STATSPACK_SNAPSHOT = "statspack_snapshot";
    STATSPACK_THERE = "statspack_there";
    SWEEP_UP = "sweep_up";
    TABLES_THERE = "tables_there";
    TABLE_SIZES = "table_sizes";
    TABLESPACE = "tablespace";
    UPDATE = "update";
    UPDATE_PLSQL = "update_plsql";
    VERSION = "version";
    VERSION_122 = "version_122";
    VERSIONS = "versions";
    WHO = "who";
}

/// The statements with which a DBA allows a user to load, run and be measured.
pub(crate) const GRANTS: &str = include_str!("sql/grants.sql");

impl OracleSqlFile {
    /// The statement without its comment, which is not sent to the database.
    pub(super) fn text(self) -> String {
        let lines: Vec<&str> = self.text.lines().filter(|line| !line.starts_with("--")).collect();
        lines.join("\n").trim().to_owned()
    }

    /// The statement with values inserted for its placeholders.
    pub(super) fn with(self, values: &[(&str, &str)]) -> String {
        values.iter().fold(self.text(), |sql, (name, value)| sql.replace(&format!("{{{name}}}"), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sql_file_is_listed_and_documented() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sql");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_suffix(".sql").expect("only statements are here").to_owned())
            .filter(|name| name != "grants")
            .collect();
        files.sort();
        let mut listed: Vec<&str> = ALL.iter().map(|statement| statement.name).collect();
        listed.sort_unstable();
        assert_eq!(listed, files);
        for statement in ALL {
            assert!(statement.text.starts_with("-- "), "{}: no comment", statement.name);
            assert!(statement.text.contains("Needs: "), "{}: says not what it needs", statement.name);
            let text = statement.text();
            assert!(!text.is_empty(), "{}: {text}", statement.name);
            assert!(!text.contains("--"), "{}: {text}", statement.name);
            // A semicolon ends a block of PL/SQL and is an error after an SQL statement.
            assert_eq!(text.ends_with(';'), text.ends_with("END;"), "{}", statement.name);
        }
    }

    #[test]
    fn grants_script_covers_every_view_without_admin_rights() {
        let statements: Vec<&str> = GRANTS.lines().filter(|line| line.starts_with("GRANT")).collect();
        for statement in &statements {
            for power in [" DBA", "SYSDBA", " ANY ", "ALL PRIVILEGES", "ADMIN OPTION", "CATALOG_ROLE"] {
                assert!(!statement.contains(power), "{statement}");
            }
        }
        let granted = |view: &str| statements.iter().any(|line| line.contains(&format!("SYS.{view} TO")));
        // Only a DBA can grant access to other users' texts.
        let is_offered =
            |name: &str| name.starts_with("awr_") || name.starts_with("cursor_") || name == "seen";
        for statement in ALL.iter().filter(|statement| !is_offered(statement.name)) {
            let text = statement.text().to_lowercase();
            for word in text.split(|c: char| !(c.is_alphanumeric() || "_$#".contains(c))) {
                let view = ["gv$", "v$"].into_iter().find_map(|start| {
                    word.strip_prefix(start).map(|rest| format!("{}_${rest}", start.trim_end_matches('$')))
                });
                // Every user may read V$VERSION.
                if let Some(view) = view.filter(|view| view != "v_$version") {
                    assert!(granted(&view.to_uppercase()), "{}: {view} is not granted", statement.name);
                }
            }
        }
    }
}
