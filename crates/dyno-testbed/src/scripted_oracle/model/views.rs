//! Answers queries on views of statistics, times, waits and sessions, and on user locks.

use super::answers::{int, int_of, number, rows, text};
use super::cursors;
use super::database::ModelDatabase;
use super::state::{ModelSession, ModelState};
use super::statistics::{Statistic, Statistics};
use crate::{ScriptedAnswer, ScriptedType, ScriptedValue};

/// The container's number, which is that of the first pluggable database.
pub(super) const CONTAINER: i64 = 3;

/// Statistics that Dyno's observers read, session by session.
const READS: [Statistic; 4] = [
    Statistic::LogicalReads,
    Statistic::PhysicalReads,
    Statistic::PhysicalReadRequests,
    Statistic::PhysicalReadBytes,
];

/// The exclusive mode of a user lock.
const EXCLUSIVE: i64 = 6;

fn named(values: Vec<(&'static str, u64)>) -> ScriptedAnswer {
    let row = |(name, value): (&str, u64)| vec![int(0), text(name), int(value)];
    rows(&["inst", "NAME", "value"], values.into_iter().map(row).collect())
}

/// Wait events: name, class, number of waits, and their total time in microseconds.
fn events(totals: &Statistics, of_instance: bool) -> Vec<(&'static str, &'static str, u64, u64)> {
    let get = |statistic| totals.get(statistic);
    let mut events = vec![
        ("log file sync", "Commit", get(Statistic::RedoSyncs), get(Statistic::RedoSyncTime)),
        (
            "enq: TX - row lock contention",
            "Application",
            get(Statistic::RowLockWaits),
            totals.wait_ns / 1_000,
        ),
    ];
    if of_instance {
        let writes = get(Statistic::RedoWrites);
        events.push(("log file parallel write", "System I/O", writes, writes));
    }
    events.retain(|(_, _, waits, _)| *waits > 0);
    events
}

impl ModelDatabase {
    /// Answers a query on counters, waits and sessions; absent for any other statement.
    pub(super) fn view(&self, session: u64, words: &str, binds: &[ScriptedValue]) -> Option<ScriptedAnswer> {
        // GV$ of a cluster has the rows of its first instance, which counts all work.
        let is_of = |view: &str| {
            words.contains(&format!(" FROM {view}")) || words.contains(&format!(" FROM g{view}"))
        };
        let mut state = self.state.lock();
        if let Some(answer) = cursors::answer(&state, words, binds) {
            return Some(answer);
        }
        // Either the container's own rows, or those of the whole instance.
        let of_instance = !words.contains("v$con_");
        let totals = if of_instance { state.instance_totals() } else { state.totals() };
        let wanted = int_of(binds.first());
        let has_rows = wanted == if of_instance { 0 } else { CONTAINER };
        Some(if is_of("v$con_sysstat") || is_of("v$sysstat") {
            let visible =
                Statistic::ALL.iter().filter(|one| has_rows && (of_instance || !one.is_of_background()));
            named(visible.map(|one| (one.name(), totals.get(*one))).collect())
        } else if is_of("v$con_sys_time_model") || is_of("v$sys_time_model") {
            let [all, waits] = [totals.call_ns, totals.wait_ns].map(|ns| ns / 1_000);
            let times = vec![("DB time", all), ("DB CPU", all.saturating_sub(waits))];
            named(if has_rows { times } else { Vec::new() })
        } else if is_of("v$con_system_event") || is_of("v$system_event") {
            let row = |(event, class, waits, us): (&'static str, &'static str, u64, u64)| {
                let is_foreground = class != "System I/O";
                let foreground = if is_foreground { [waits, us] } else { [0, 0] };
                let figures = [waits, us].into_iter().chain(foreground).map(int);
                [int(0), text(event), text(class)].into_iter().chain(figures).collect()
            };
            let listed = if has_rows { events(&totals, of_instance) } else { Vec::new() };
            let columns = [
                "inst",
                "EVENT",
                "WAIT_CLASS",
                "total_waits",
                "time_waited_micro",
                "total_waits_fg",
                "time_waited_micro_fg",
            ];
            rows(&columns, listed.into_iter().map(row).collect())
        } else if is_of("v$con_event_histogram_micro") || is_of("v$event_histogram_micro") {
            let of_log = |(event, _, _, _): &(&str, &str, u64, u64)| event.starts_with("log file");
            let row = |(event, _, waits, _)| vec![text(event), int(1), int(waits)];
            let listed = if has_rows { events(&totals, of_instance) } else { Vec::new() };
            rows(&["EVENT", "wait_time_micro", "waits"], listed.into_iter().filter(of_log).map(row).collect())
        } else if is_of("v$osstat") {
            named(vec![("NUM_CPUS", 2), ("NUM_CPU_CORES", 2), ("PHYSICAL_MEMORY_BYTES", 8 << 30)])
        } else if is_of("v$iostat_file") {
            let columns =
                ["inst", "FILETYPE_NAME", "reads", "writes", "read_mb", "write_mb", "read_ms", "write_ms"];
            let log = [0, totals.get(Statistic::RedoWrites), 0, totals.get(Statistic::RedoSize) >> 20, 0, 0];
            let row = |name: &str, values: [u64; 6]| {
                [int(0), text(name)].into_iter().chain(values.map(int)).collect::<Vec<_>>()
            };
            rows(&columns, vec![row("Data File", [0; 6]), row("Log File", log)])
        } else if words.starts_with("SELECT s.value AS commits FROM v$sesstat s ") {
            number(state.session(session).statistics.get(Statistic::Commits))
        } else if words.contains(" FROM v$sesstat s ") {
            let is_own = words.contains("u.action IN ('observer', 'sampler')");
            rows(&["SESSION_ID", "NAME", "value"], session_statistics(&state, is_own))
        } else if words.starts_with("BEGIN :outcome := SYS.DBMS_LOCK.REQUEST(") {
            let (lock, mode) = (int_of(binds.get(1)), int_of(binds.get(2)));
            ScriptedAnswer::ReturnedAt(vec![(0, int(request_lock(&mut state, session, lock, mode)))])
        } else if is_of("v$session") || is_of("gv$session") || words.contains(" FROM v$session)") {
            sessions(&state, session, words)?
        } else {
            return None;
        })
    }
}

/// Session, name and value of each statistic, for the observers or for sessions not of Dyno.
fn session_statistics(state: &ModelState, is_own: bool) -> Vec<Vec<ScriptedValue>> {
    let is_told = |session: &ModelSession| {
        let is_dyno = session.labels.module.as_deref() == Some("dyno");
        let is_observer = matches!(session.labels.action.as_deref(), Some("observer" | "sampler"));
        if is_own { is_dyno && is_observer } else { !is_dyno }
    };
    let matching = state.sessions.iter().filter(|(_, session)| is_told(session));
    matching
        .flat_map(|(number, session)| {
            READS.map(|one| {
                vec![text(format!("{number},{number}")), text(one.name()), int(session.statistics.get(one))]
            })
        })
        .collect()
}

/// Result of `DBMS_LOCK.REQUEST`: 0 taken, 1 held by another session, 4 already held.
fn request_lock(state: &mut ModelState, session: u64, lock: i64, mode: i64) -> i64 {
    let holders = state.user_locks.entry(lock).or_default();
    if holders.iter().any(|(holder, _)| *holder == session) {
        return 4;
    }
    if holders.iter().any(|(_, held)| mode == EXCLUSIVE || *held == EXCLUSIVE) {
        return 1;
    }
    holders.push((session, mode));
    0
}

/// Answers a query on sessions.
fn sessions(state: &ModelState, caller: u64, words: &str) -> Option<ScriptedAnswer> {
    let says = |part: &str| words.contains(part);
    let action = |session: &ModelSession| session.labels.action.clone().unwrap_or_default();
    let is_dyno = |session: &ModelSession| session.labels.module.as_deref() == Some("dyno");
    let all = || state.sessions.iter();
    let active = || all().filter(|(number, session)| session.is_active && **number != caller);
    // A session of the model waits only for row locks.
    let waits = |session: &ModelSession| match session.waits_for {
        Some(_) => [text("Application"), text("enq: TX - row lock contention")],
        None => [text("CPU"), text("CPU")],
    };
    Some(if says("action = 'lock'") {
        let holders = all().filter(|(number, session)| {
            is_dyno(session)
                && action(session) == "lock"
                && **number != caller
                && session.labels.client_info.is_some()
        });
        let row = |(number, session): (&u64, &ModelSession)| {
            let words = session.labels.client_info.clone().unwrap_or_default();
            vec![text(words), int(*number), int(*number), int(1)]
        };
        rows(&["CLIENT_INFO", "sid", "serial", "inst"], holders.map(row).collect())
    } else if says("AS sessions") {
        rows(&["sessions"], vec![vec![int(all().count() as u64)]])
    } else if says("COUNT(*) AS others") {
        let strangers = all().filter(|(_, session)| !is_dyno(session));
        let (count, busy) = strangers
            .fold((0, 0), |(count, busy), (_, session)| (count + 1, busy + i64::from(session.is_active)));
        rows(&["others", "active"], vec![vec![int(count), int(busy)]])
    } else if says("action LIKE 'session %'") {
        let listed =
            active().filter(|(_, session)| is_dyno(session) && action(session).starts_with("session "));
        rows(&["CLASS", "EVENT"], listed.map(|(_, session)| waits(session).to_vec()).collect())
    } else if words.starts_with("SELECT username, program") {
        let listed = active().filter(|(_, session)| !is_dyno(session));
        rows(&["USERNAME", "PROGRAM"], listed.map(|_| vec![text("DYNO"), text("a client")]).collect())
    } else if says("username, program") {
        let is_watching = |session: &ModelSession| matches!(&*action(session), "observer" | "sampler");
        let listed = active().filter(|(_, session)| !(is_dyno(session) && is_watching(session)));
        let row = |session: &ModelSession| [&waits(session)[..], &[text("DYNO"), text("dyno")]].concat();
        let columns = ["CLASS", "EVENT", "USERNAME", "PROGRAM"].map(|name| (name, ScriptedType::Text));
        let rows = listed.map(|(_, session)| row(session)).collect();
        ScriptedAnswer::Rows { columns: columns.to_vec(), rows }
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_locks_block_exclusive_ones() {
        let mut state = ModelState::default();
        assert_eq!(request_lock(&mut state, 1, 7, 4), 0);
        assert_eq!(request_lock(&mut state, 2, 7, 4), 0);
        assert_eq!(request_lock(&mut state, 3, 7, EXCLUSIVE), 1);
        assert_eq!(request_lock(&mut state, 1, 7, EXCLUSIVE), 4);
        assert_eq!(request_lock(&mut state, 3, 8, EXCLUSIVE), 0);
        assert_eq!(request_lock(&mut state, 1, 8, 4), 1);
    }
}
