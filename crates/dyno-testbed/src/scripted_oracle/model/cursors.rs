//! The model's cursor cache: what each statement has done, by its text.

use std::collections::BTreeMap;

use super::answers::{int, int_of, rows, text, text_of};
use super::state::{ModelSession, ModelState};
use super::statistics::Statistic;
use crate::{ScriptedAnswer, ScriptedValue};

/// What one statement has done since it was first executed.
#[derive(Debug, Clone, Default)]
struct Cursor {
    executions: u64,
    elapsed_ns: u64,
    waited_ns: u64,
    rows: u64,
    logical_reads: u64,
    /// Whether Dyno observes with it: an observer or a sampler executed it first, or another session of Dyno did
    /// and it reads a view.
    is_observing: bool,
}

/// All statements by their texts in single spaces.
#[derive(Debug, Clone, Default)]
pub(super) struct CursorCache(BTreeMap<String, Cursor>);

/// What a session had done when a statement began.
#[derive(Debug, Clone, Copy)]
pub(super) struct CursorBegin {
    logical_reads: u64,
    waited_ns: u64,
}

impl CursorBegin {
    pub(super) fn of(session: &ModelSession) -> Self {
        Self {
            logical_reads: session.statistics.get(Statistic::LogicalReads),
            waited_ns: session.statistics.wait_ns,
        }
    }
}

impl CursorCache {
    /// Notes that `session` has executed a statement in `elapsed_ns`.
    pub(super) fn note(
        &mut self,
        words: String,
        session: &ModelSession,
        begin: CursorBegin,
        (answer, elapsed_ns): (&ScriptedAnswer, u64),
    ) {
        let now = CursorBegin::of(session);
        let reads_view = words.contains("v$");
        let cursor = self.0.entry(words).or_default();
        if cursor.executions == 0 {
            let labels = &session.labels;
            let is_observer = matches!(labels.action.as_deref(), Some("observer" | "sampler"));
            cursor.is_observing = labels.module.as_deref() == Some("dyno") && (is_observer || reads_view);
        }
        cursor.executions += 1;
        cursor.elapsed_ns += elapsed_ns;
        cursor.waited_ns += now.waited_ns - begin.waited_ns;
        cursor.logical_reads += now.logical_reads - begin.logical_reads;
        cursor.rows += match answer {
            ScriptedAnswer::Rows { rows, .. } => rows.len() as u64,
            ScriptedAnswer::Changed(count) => *count,
            ScriptedAnswer::Returned(_) | ScriptedAnswer::ReturnedAt(_) => 1,
            _ => 0,
        };
    }
}

/// Answers a query on the cursor cache; absent for any other.
pub(super) fn answer(state: &ModelState, words: &str, binds: &[ScriptedValue]) -> Option<ScriptedAnswer> {
    let cursors = &state.cursors.0;
    if words.starts_with("SELECT * FROM (SELECT sql_id, SUM(executions)") {
        let row = |(words, cursor): (&String, &Cursor)| {
            let us =
                [cursor.elapsed_ns, cursor.elapsed_ns.saturating_sub(cursor.waited_ns), cursor.waited_ns, 0]
                    .map(|ns| ns / 1_000);
            let figures = [cursor.executions].into_iter().chain(us);
            let figures = figures.chain([cursor.rows, cursor.logical_reads, 0]);
            std::iter::once(text(sql_id(words))).chain(figures.map(int)).collect()
        };
        let columns = [
            "SQL_ID",
            "executions",
            "elapsed_us",
            "cpu_us",
            "application_us",
            "user_io_us",
            "row_count",
            "logical_reads",
            "physical_reads",
        ];
        let most = usize::try_from(int_of(binds.first())).unwrap_or(0);
        Some(rows(&columns, cursors.iter().map(row).take(most).collect()))
    } else if words.starts_with("SELECT s.sql_id, DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 1) AS piece_1") {
        let ids = text_of(binds.first());
        let listed =
            cursors.iter().filter(|(words, cursor)| cursor.is_observing || ids.contains(&sql_id(words)));
        let row = |(words, cursor): (&String, &Cursor)| {
            let piece = |from: usize| text(words.chars().skip(from).take(1_000).collect::<String>());
            let observing = int(u64::from(cursor.is_observing));
            vec![text(sql_id(words)), piece(0), piece(1_000), text("DYNO"), observing]
        };
        let columns = ["SQL_ID", "PIECE_1", "PIECE_2", "PARSED_IN", "observing"];
        Some(rows(&columns, listed.map(row).collect()))
    } else {
        None
    }
}

/// An identifier in the form of Oracle's: 13 letters and digits that follow from the text.
fn sql_id(words: &str) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdfghjkmnpqrstuvwxyz";
    // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
    let hash = words.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (0..13).map(|place| char::from(LETTERS[(hash >> (5 * place) & 31) as usize])).collect()
}
