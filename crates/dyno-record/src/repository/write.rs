//! Beginning, finishing and deleting runs: one short transaction each.

use rusqlite::{OptionalExtension as _, ToSql, Transaction, TransactionBehavior, params};

use super::packed::{Form, PackedRecord, Packer, malformed, microseconds};
use super::sweep::put_member;
use super::{Mark, Repository, RepositoryError, StartedRun, pack};
use crate::id::RunId;
use crate::metric::{Metric, Unit};
use crate::record::RunRecord;
use crate::window::Window;

impl Repository {
    /// Notes that a run has started. Until [`Repository::finish`] it is listed as running while its process lives, and
    /// as interrupted once that is gone.
    ///
    /// # Errors
    /// There is a run of that name, or the file cannot be written; then nothing was noted.
    pub fn begin(&self, run: &StartedRun) -> Result<(), RepositoryError> {
        let started_us = microseconds(&run.id, &run.started_at)?;
        let plan = serde_json::to_string(&run.plan).map_err(|e| malformed(&run.id, e.to_string()))?;
        let sql = "INSERT INTO run (id, started_at, started_us, engine, target, sessions, update_pct,
                       pid, pid_start_ticks, boot_id, pid_namespace, host, plan)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
                   ON CONFLICT (id) DO NOTHING";
        let process = &run.process;
        let values = params![
            run.id,
            run.started_at,
            started_us,
            run.engine,
            run.target,
            run.plan.sessions(),
            run.plan.workload.update_pct,
            process.pid,
            process.start_ticks.and_then(|ticks| i64::try_from(ticks).ok()),
            process.boot_id,
            process.namespace,
            process.host,
            plan,
        ];
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.sorted(e))?;
        if transaction.execute(sql, values).map_err(|e| self.sorted(e))? == 0 {
            return Err(RepositoryError::Exists { id: run.id.clone() });
        }
        put_member(&transaction, &run.id, run.part_of.as_ref())
            .and_then(|()| transaction.commit())
            .map_err(|e| self.sorted(e))
    }

    /// Stores a run's record, whether the run was begun here or not. Storing the same record again changes nothing.
    ///
    /// # Errors
    /// There is another record of that name, the record cannot be written as JSON, or the file cannot be written; then
    /// nothing was stored, and the same call may be tried again.
    pub fn finish(&self, record: &RunRecord) -> Result<(), RepositoryError> {
        self.finish_all([record]).map(|_| ())
    }

    /// Stores records, all of them or none, whatever ends this process meanwhile; returns how many were not there before.
    ///
    /// # Errors
    /// As [`Repository::finish`], of the first that cannot be stored; then none was.
    pub fn finish_all<'r>(
        &self,
        records: impl IntoIterator<Item = &'r RunRecord>,
    ) -> Result<usize, RepositoryError> {
        let mut batch = self.batch()?;
        for record in records {
            batch.add(record)?;
        }
        batch.commit()
    }

    /// Begins storing records that are stored together or not at all.
    ///
    /// # Errors
    /// The file cannot be written, or another process holds it for too long.
    pub fn batch(&self) -> Result<Batch<'_>, RepositoryError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.sorted(e))?;
        Ok(Batch { repository: self, transaction, packer: Packer::new(), stored: 0 })
    }

    /// Stores a record in an open transaction; false if it is there already.
    fn store(
        &self,
        transaction: &Transaction<'_>,
        record: &RunRecord,
        form: &Form,
    ) -> Result<bool, RepositoryError> {
        let there: Option<Vec<u8>> = transaction
            .prepare_cached("SELECT packed FROM record WHERE id = ?1")
            .and_then(|mut known| known.query_row([&record.id], |row| row.get(0)).optional())
            .map_err(|e| self.sorted(e))?;
        if let Some(there) = there {
            // Another version of this program may have compressed it otherwise.
            let same = there == form.packed || pack::unpack(&there).ok() == pack::unpack(&form.packed).ok();
            return if same { Ok(false) } else { Err(RepositoryError::Exists { id: record.id.clone() }) };
        }
        put(transaction, record, form).map_err(|e| self.sorted(e))?;
        Ok(true)
    }

    /// Removes a run and its record for good; `selector` as for [`Repository::load`], returns the run's name.
    ///
    /// # Errors
    /// No run or several are named so, or the file cannot be written.
    pub fn delete(&self, selector: &str) -> Result<RunId, RepositoryError> {
        let id = self.resolve(selector)?;
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.sorted(e))?;
        transaction
            .execute("DELETE FROM record WHERE id = ?1", [&id])
            .and_then(|_| transaction.execute("DELETE FROM run WHERE id = ?1", [&id]))
            .and_then(|_| transaction.commit())
            .map_err(|e| self.sorted(e))?;
        Ok(id)
    }
}

/// Records that are stored together: all of them with [`Batch::commit`], none without, whatever ends this process. None of
/// them has to stay in memory for that.
#[derive(Debug)]
pub struct Batch<'r> {
    repository: &'r Repository,
    transaction: Transaction<'r>,
    packer: Packer,
    stored: usize,
}

impl Batch<'_> {
    /// Adds a record; false if the same is there already.
    ///
    /// # Errors
    /// As [`Repository::finish`]. After another record of that name the batch can go on; after anything else it is to be dropped.
    pub fn add(&mut self, record: &RunRecord) -> Result<bool, RepositoryError> {
        let form = self.packer.form(record)?;
        self.store(record, &form)
    }

    /// Adds a record that is packed; false if the same is there already.
    ///
    /// # Errors
    /// As [`Batch::add`].
    pub fn add_packed(&mut self, packed: &PackedRecord) -> Result<bool, RepositoryError> {
        self.store(&packed.record, &packed.form)
    }

    fn store(&mut self, record: &RunRecord, form: &Form) -> Result<bool, RepositoryError> {
        let is_new = self.repository.store(&self.transaction, record, form)?;
        self.stored += usize::from(is_new);
        Ok(is_new)
    }

    /// Stores them; returns how many were not there before.
    ///
    /// # Errors
    /// The file cannot be written; then none was stored.
    pub fn commit(self) -> Result<usize, RepositoryError> {
        self.transaction.commit().map_err(|e| self.repository.sorted(e))?;
        Ok(self.stored)
    }
}

/// Writes the summary columns and the packed record.
fn put(transaction: &Transaction<'_>, record: &RunRecord, form: &Form) -> rusqlite::Result<()> {
    let all = record.ops.get("all");
    let join =
        |part: fn(&crate::TargetFacts) -> &str| record.targets.iter().map(part).collect::<Vec<_>>().join(" ");
    // Prepared once for all records of a batch: preparing takes longer than storing.
    let execute = |sql: &str, values: &[&dyn ToSql]| transaction.prepare_cached(sql)?.execute(values);
    execute(
        "INSERT INTO run (id, started_at, started_us, status, engine, target, sessions, update_pct, ops_per_s, p99_us,
             logical_reads_per_s, physical_reads_per_s, redo_mb_per_s, seconds, reason)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
         ON CONFLICT (id) DO UPDATE SET
             started_at = excluded.started_at, started_us = excluded.started_us, status = excluded.status,
             engine = iif(excluded.engine = '', engine, excluded.engine),
             target = iif(excluded.target = '', target, excluded.target),
             sessions = excluded.sessions, update_pct = excluded.update_pct, ops_per_s = excluded.ops_per_s,
             p99_us = excluded.p99_us, logical_reads_per_s = excluded.logical_reads_per_s,
             physical_reads_per_s = excluded.physical_reads_per_s, redo_mb_per_s = excluded.redo_mb_per_s,
             seconds = excluded.seconds, reason = excluded.reason",
        params![
            record.id,
            record.started_at,
            form.started_us,
            record.status.name(),
            join(|target| &target.engine),
            join(|target| &target.url),
            record.sessions(),
            record.plan.workload.update_pct,
            all.map(|all| all.rate_per_s).or_else(|| value(record, "ops_per_s")),
            all.and_then(|all| all.response_us.p99),
            value(record, "logical_reads_per_s"),
            value(record, "physical_reads_per_s"),
            redo_mb_per_s(record),
            record.window.as_ref().map(Window::work_seconds),
            record.reasons.first(),
        ],
    )?;
    put_member(transaction, &record.id, record.part_of.as_ref())?;
    execute(
        "INSERT INTO record (id, json_bytes, packed) VALUES (?1, ?2, ?3)",
        params![record.id, i64::try_from(form.json_bytes).unwrap_or(i64::MAX), form.packed],
    )?;
    execute(
        "INSERT INTO detail (id, database, undated, marked) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (id) DO UPDATE SET
             database = excluded.database, undated = excluded.undated, marked = excluded.marked",
        params![record.id, record.databases(), !record.is_dated(), record.marked().join(" ")],
    )?;
    // What was kept in case that there would be no record; a series of which the record has an overview only stays.
    execute("DELETE FROM draft WHERE id = ?1", params![record.id])?;
    if record.series.full.is_none() {
        execute("DELETE FROM chunk WHERE id = ?1", params![record.id])?;
    }
    marks(transaction, record)
}

/// Writes the names under which the run is found beside its own.
fn marks(transaction: &Transaction<'_>, record: &RunRecord) -> rusqlite::Result<()> {
    let tags = record.tags.iter().map(|tag| (Mark::Tag, tag));
    let variant = record.variant.iter().map(|variant| (Mark::Variant, variant));
    for (kind, name) in tags.chain(variant) {
        let sql = "INSERT INTO mark (kind, name, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        transaction.prepare_cached(sql)?.execute(params![kind.name(), name, record.id])?;
    }
    Ok(())
}

fn value(record: &RunRecord, metric: &str) -> Option<f64> {
    record.metrics.get(metric).and_then(Metric::value).filter(|value| value.is_finite())
}

/// Redo in MB/s, from `redo_bytes_per_s` in whichever of the two units it was written.
fn redo_mb_per_s(record: &RunRecord) -> Option<f64> {
    match record.metrics.get("redo_bytes_per_s")? {
        Metric::Value { value, unit: Unit::BytesPerSecond } => Some(value / 1e6),
        Metric::Value { value, unit: Unit::MegabytesPerSecond } => Some(*value),
        _ => None,
    }
}
