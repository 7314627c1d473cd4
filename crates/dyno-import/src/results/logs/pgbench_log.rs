//! Reads the log of `pgbench -l`, which has a line for each transaction.

use std::collections::BTreeMap;

use dyno_record::Unit;
use jiff::Timestamp;

use super::{LogParser, LogRun};

/// Maximum transactions in memory for the percentiles.
const TRANSACTIONS_MAX: usize = 20_000_000;
/// Seconds since 1970 for the years 2000 to 2100.
const SECONDS: std::ops::Range<i64> = 946_684_800..4_102_444_800;

/// The transactions of one client, with their times.
struct Client {
    first: u64,
    last: u64,
    count: u64,
}

#[derive(Default)]
pub(super) struct PgbenchLog {
    /// Whether the first line has the format of this log.
    is_log: bool,
    clients: BTreeMap<u32, Client>,
    latencies_us: Vec<u32>,
    begin_us: Option<i64>,
    end_us: i64,
    failed: u64,
    skipped: u64,
    has_lag: bool,
}

/// One transaction, from one line of the log.
struct LoggedTransaction<'t> {
    client: u32,
    transaction: u64,
    /// Microseconds, or the reason for their absence: `skipped`, `failed`.
    latency: Result<u32, &'t str>,
    end_us: i64,
    has_lag: bool,
}

fn logged(text: &str) -> Option<LoggedTransaction<'_>> {
    let cells: Vec<&str> = text.split(' ').collect();
    let [client, transaction, latency, script, seconds, micros, rest @ ..] = cells.as_slice() else {
        return None;
    };
    let latency = match latency.parse() {
        Ok(latency) => Ok(latency),
        Err(_) if matches!(*latency, "skipped" | "failed" | "serialization" | "deadlock") => Err(*latency),
        Err(_) => return None,
    };
    let seconds: i64 = seconds.parse().ok().filter(|seconds| SECONDS.contains(seconds))?;
    let micros: i64 = micros.parse().ok().filter(|micros| (0..1_000_000).contains(micros))?;
    let is_line = script.parse::<u32>().is_ok() && rest.len() <= 2;
    Some(LoggedTransaction {
        client: client.parse().ok()?,
        transaction: transaction.parse().ok()?,
        latency,
        end_us: seconds * 1_000_000 + micros,
        has_lag: !rest.is_empty(),
    })
    .filter(|_| is_line)
}

impl LogParser for PgbenchLog {
    fn tool(&self) -> &'static str {
        "pgbench -l"
    }

    fn line(&mut self, number: u64, text: &str) -> Result<(), String> {
        let logged = logged(text);
        if number == 1 {
            self.is_log = logged.is_some();
        }
        if !self.is_log {
            return Ok(());
        }
        let Some(logged) = logged else {
            return Err(
                "this line does not have the format of the first line of the pgbench -l log: was the file \
                    truncated?"
                    .to_owned(),
            );
        };
        self.has_lag |= logged.has_lag;
        let latency = match logged.latency {
            Ok(latency) => latency,
            Err("skipped") => {
                self.skipped += 1;
                return Ok(());
            }
            Err(_) => {
                self.failed += 1;
                return Ok(());
            }
        };
        if self.latencies_us.len() >= TRANSACTIONS_MAX {
            return Err(format!("the log has more than {TRANSACTIONS_MAX} transactions"));
        }
        let client = self.clients.entry(logged.client).or_insert(Client {
            first: logged.transaction,
            last: logged.transaction,
            count: 0,
        });
        client.first = client.first.min(logged.transaction);
        client.last = client.last.max(logged.transaction);
        client.count += 1;
        let begin_us = logged.end_us - i64::from(latency);
        self.begin_us = Some(self.begin_us.map_or(begin_us, |begin| begin.min(begin_us)));
        self.end_us = self.end_us.max(logged.end_us);
        self.latencies_us.push(latency);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<LogRun>, String> {
        let Some(begin_us) = self.begin_us else { return Ok(Vec::new()) };
        let clients = self.clients.len() as u32;
        if self.clients.keys().last().is_some_and(|last| last + 1 != clients) {
            return Err(
                "clients are missing: pgbench -j writes one file per thread; join them into one file"
                    .to_owned(),
            );
        }
        if self.clients.values().any(|client| client.last - client.first + 1 > client.count + self.failed) {
            return Err(
                "transactions are missing: the rate of a log with --sampling-rate is unknown".to_owned()
            );
        }
        let seconds = (self.end_us - begin_us) as f64 / 1e6;
        let count = self.latencies_us.len();
        let mut run = LogRun { line: 1, sessions: Some(clients), ..LogRun::default() };
        run.seconds = Some(seconds);
        run.started_at = Timestamp::from_microsecond(begin_us).ok();
        run.label("transactions", &count.to_string());
        if self.failed > 0 {
            run.label("failed transactions", &self.failed.to_string());
        }
        if self.skipped > 0 {
            run.label("skipped transactions", &self.skipped.to_string());
        }
        run.metric("ops_per_s", count as f64 / seconds, Unit::PerSecond);
        self.latencies_us.sort_unstable();
        let kind = if self.has_lag { "response" } else { "service" };
        let sum: f64 = self.latencies_us.iter().map(|latency| f64::from(*latency)).sum();
        run.metric(&format!("{kind}_mean_us"), sum / count as f64, Unit::Microseconds);
        for percent in [50, 95, 99] {
            // Nearest-rank percentile.
            let rank = (count * percent).div_ceil(100).max(1);
            let latency = f64::from(self.latencies_us[rank - 1]);
            run.metric(&format!("{kind}_p{percent}_us"), latency, Unit::Microseconds);
        }
        Ok(vec![run])
    }
}
