//! Gives hints for errors of the database.

/// The hint for this error number; empty if there is none.
pub(super) fn way_out(number: usize, is_missing_grant: bool) -> &'static str {
    match number {
        54 => "another session holds the lock: V$LOCKED_OBJECT names it",
        60 => "change rows in the same order in every transaction",
        600 | 700 | 7_445 => {
            "an internal error of the database: its alert log names the trace file for Oracle Support"
        }
        1_000 => "raise open_cursors: a session keeps up to 64 cursors open, plus those of its procedures",
        1_403 => "a SELECT INTO in the block found no row: handle NO_DATA_FOUND",
        1_536 => "ALTER USER … QUOTA UNLIMITED ON the tablespace, by a DBA",
        1_555 => "raise undo_retention and the size of the undo tablespace",
        1_652 => "enlarge the temporary tablespace",
        1_653..=1_655 | 1_658 | 1_659 | 1_688 | 1_691 | 1_692 => {
            "enlarge the tablespace: add a data file, or let one grow (AUTOEXTEND)"
        }
        3_113 | 3_114 | 3_135 => {
            "check the database's alert log for the end of its process, and firewalls that end idle \
            connections"
        }
        6_550 if is_missing_grant => "check the name, and grant this user the right to use it",
        6_550 => "correct the block: the database's compiler names line and column",
        8_177 => "sessions change the same rows: with isolation read committed they wait instead",
        12_170 | 12_514 | 12_516 => "a database link cannot reach its database: test it by itself",
        30_036 => "enlarge the undo tablespace",
        _ => "",
    }
}
