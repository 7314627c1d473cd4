//! Wait events that a database counts and times itself, as in the top timed events of Oracle's AWR.

use dyno_record::{Counter, Counters, CountingRules, Latency, RunRecord};

/// Time of the sessions in one event, or on the processor, over the window.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedEvent {
    /// The event as the database names it; [`CPU`] for processor time.
    pub event: String,
    /// Its class as the database names it; empty for processor time.
    pub class: String,
    /// Number of waits; absent for processor time.
    pub waits: Option<u64>,
    pub seconds: f64,
    /// Share of DB time, %; absent if DB time is unknown or 0. Not of all events together: DB time also has
    /// time that belongs to no event.
    pub db_time_pct: Option<f64>,
    /// The database's own distribution of the waits; absent for most events.
    pub distribution: Option<Latency>,
}

/// The name of processor time among events.
pub const CPU: &str = "DB CPU";

const US_PER_S: f64 = 1e6;

/// The events of the window with time in them, longest first; absent where the database does not count them.
pub fn timed_events(record: &RunRecord) -> Option<Vec<TimedEvent>> {
    let counters = &record.counters;
    let names = rules(record)?.events.as_ref()?;
    let db_time_us = counters.get(Counter::DbTime).ok().filter(|us| *us > 0).map(|us| us as f64);
    let event = |event: &str, class: &str, waits, us: f64| TimedEvent {
        event: event.to_owned(),
        class: class.to_owned(),
        waits,
        seconds: us / US_PER_S,
        db_time_pct: db_time_us.map(|all_us| 100.0 * us / all_us),
        distribution: counters.latencies.get(event).filter(|latency| latency.count > 0).cloned(),
    };
    let mut events: Vec<TimedEvent> = counters
        .native
        .iter()
        .filter_map(|(name, us)| {
            let key = name.strip_suffix(&names.time_us)?;
            let (class, called) = key.strip_prefix(&names.prefix)?.split_once('.')?;
            let waits = counters.native.get(&format!("{key}{}", names.waits)).map(|waits| *waits as u64);
            Some(event(called, class, waits, *us))
        })
        .filter(|event| event.seconds > 0.0)
        .collect();
    if events.is_empty() && db_time_us.is_none() {
        return None;
    }
    if let Ok(us @ 1..) = counters.get(Counter::CpuTime) {
        events.push(event(CPU, "", None, us as f64));
    }
    events.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    Some(events)
}

/// How the names of counters of events begin; absent where the database does not count them.
pub(crate) fn event_prefix(record: &RunRecord) -> Option<&str> {
    Some(rules(record)?.events.as_ref()?.prefix.as_str())
}

fn rules(record: &RunRecord) -> Option<&CountingRules> {
    record.targets.first().map(|target| &target.identity.counting)
}

/// Parses of the window, as the database counts them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parses {
    pub total: f64,
    /// Parses that had to compile the statement; absent if they are not counted.
    pub hard: Option<f64>,
    /// Executions of the same time; absent if there were none or they are not counted.
    pub executions: Option<f64>,
}

/// The parses of the window.
///
/// # Errors
/// Why they are unknown.
pub fn parses(record: &RunRecord) -> Result<Parses, String> {
    let not_counted = || {
        let product = record.targets.first().map_or("", |target| target.identity.product.as_str());
        format!("{} reports no count of parses", if product.is_empty() { "the source" } else { product })
    };
    let names = rules(record).and_then(|rules| rules.parses.as_ref()).ok_or_else(not_counted)?;
    if record.counters.portable.is_empty() {
        return Err("the counters at the window boundaries were not read".to_owned());
    }
    // A counter without a change is not stored.
    let delta = |counters: &Counters, name: &str| counters.native.get(name).copied().unwrap_or(0.0);
    let executions = record.counters.get(Counter::Executions).ok();
    Ok(Parses {
        total: delta(&record.counters, &names.total),
        hard: names.hard.as_ref().map(|name| delta(&record.counters, name)),
        executions: executions.filter(|count| *count > 0).map(|count| count as f64),
    })
}

#[cfg(test)]
mod tests {
    use dyno_record::{CounterDelta, EventCounters, ParseCounters};

    use super::*;
    use crate::fixture;

    fn set(record: &mut RunRecord, counter: Counter, delta: i64) {
        let moved = CounterDelta::Moved { begin: 0, end: delta as u64, delta, unit: counter.unit() };
        record.counters.portable.insert(counter, moved);
    }

    /// A record of a database that counts events and parses.
    fn counted() -> RunRecord {
        let mut record = fixture::postgres();
        let rules = &mut record.targets[0].identity.counting;
        rules.events = Some(EventCounters {
            prefix: "event.".into(),
            waits: ".foreground_waits".into(),
            time_us: ".foreground_us".into(),
        });
        rules.parses = Some(ParseCounters { total: "parses".into(), hard: Some("hard".into()) });
        for (name, value) in [
            ("event.User I/O.db file sequential read.foreground_waits", 1_000.0),
            ("event.User I/O.db file sequential read.foreground_us", 300_000.0),
            ("event.Commit.log file sync.foreground_waits", 10.0),
            ("event.Commit.log file sync.foreground_us", 500_000.0),
            ("event.System I/O.log file parallel write.us", 900_000.0),
            ("parses", 20.0),
        ] {
            record.counters.native.insert(name.into(), value);
        }
        set(&mut record, Counter::DbTime, 2_000_000);
        set(&mut record, Counter::CpuTime, 400_000);
        set(&mut record, Counter::Executions, 1_000);
        record
    }

    #[test]
    fn timed_events_include_cpu_and_their_share_of_db_time() {
        let record = counted();
        let events = timed_events(&record).unwrap();
        let listed: Vec<_> =
            events.iter().map(|event| (event.event.as_str(), event.waits, event.db_time_pct)).collect();
        assert_eq!(
            listed,
            [
                ("log file sync", Some(10), Some(25.0)),
                (CPU, None, Some(20.0)),
                ("db file sequential read", Some(1_000), Some(15.0)),
            ],
            "waits of background processes are no foreground event"
        );
        assert_eq!(events[2].class, "User I/O");
        assert_eq!(timed_events(&fixture::postgres()), None);
    }

    #[test]
    fn parses_are_absent_with_a_reason_where_not_counted() {
        let wanted = Parses { total: 20.0, hard: Some(0.0), executions: Some(1_000.0) };
        assert_eq!(parses(&counted()), Ok(wanted));
        assert_eq!(parses(&fixture::postgres()), Err("PostgreSQL reports no count of parses".to_owned()));
    }
}
