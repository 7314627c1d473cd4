//! Starts, finishes and deletes runs, each in one short transaction.

use rusqlite::{OptionalExtension as _, ToSql, Transaction, TransactionBehavior, params};

use super::packed::{PackedRecord, Packer, malformed, microseconds, update_pct};
use super::sweeps::put_member;
use super::{Repository, RepositoryError, StartedRun, pack};
use crate::id::RunId;
use crate::record::RunRecord;

/// Selects a run and its record.
const KNOWN: &str = "SELECT packed FROM run LEFT JOIN record USING (id) WHERE id = ?1";

/// The columns of a run's summary.
const PUT_RUN: &str = "INSERT INTO run (id, started_at, started_us, status, engine, target, sessions, update_pct, ops_per_s, p99_us,
         logical_reads_per_s, physical_reads_per_s, redo_mb_per_s, seconds, reason)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
     ON CONFLICT (id) DO UPDATE SET
         started_at = excluded.started_at, started_us = excluded.started_us, status = excluded.status,
         engine = iif(excluded.engine = '', engine, excluded.engine),
         target = iif(excluded.target = '', target, excluded.target),
         sessions = excluded.sessions, update_pct = excluded.update_pct, ops_per_s = excluded.ops_per_s,
         p99_us = excluded.p99_us, logical_reads_per_s = excluded.logical_reads_per_s,
         physical_reads_per_s = excluded.physical_reads_per_s, redo_mb_per_s = excluded.redo_mb_per_s,
         seconds = excluded.seconds, reason = excluded.reason";

const PUT_RECORD: &str = "INSERT INTO record (id, json_bytes, packed) VALUES (?1, ?2, ?3)";

const PUT_DETAIL: &str = "INSERT INTO detail (id, database, undated, marked) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (id) DO UPDATE SET
         database = excluded.database, undated = excluded.undated, marked = excluded.marked";

const PUT_MARK: &str = "INSERT INTO mark (kind, name, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";

impl Repository {
    /// Stores that a run has started. Until [`Repository::finish`] it is listed as running while its process is alive, then as
    /// interrupted.
    ///
    /// # Errors
    /// A run with this name exists, or the file cannot be written; nothing is stored then.
    pub fn begin(&self, run: &StartedRun) -> Result<(), RepositoryError> {
        if !crate::id::is_name(&run.id) {
            return Err(RepositoryError::BadName { name: run.id.chars().take(60).collect() });
        }
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
            update_pct(&run.plan, true),
            process.pid,
            process.start_ticks.and_then(|ticks| i64::try_from(ticks).ok()),
            process.boot_id,
            process.namespace,
            process.host,
            plan,
        ];
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.classify_error(e))?;
        if transaction.execute(sql, values).map_err(|e| self.classify_error(e))? == 0 {
            return Err(RepositoryError::Exists { id: run.id.clone() });
        }
        put_member(&transaction, &run.id, run.part_of.as_ref())
            .and_then(|()| transaction.commit())
            .map_err(|e| self.classify_error(e))
    }

    /// Stores a run's record, whether the run was started here or not. Storing an identical record again changes nothing.
    ///
    /// # Errors
    /// Another record has this name, the record cannot be written as JSON, or the file cannot be written. Nothing is stored then,
    /// and the call can be repeated.
    pub fn finish(&self, record: &RunRecord) -> Result<(), RepositoryError> {
        self.finish_all([record]).map(|_| ())
    }

    /// Replaces the record with the same name, to add what became known only after it was stored.
    ///
    /// # Errors
    /// There is no such record, it cannot be written as JSON, or the file cannot be written; the old record then stays.
    pub fn amend(&self, record: &RunRecord) -> Result<(), RepositoryError> {
        let packed = Packer::new().pack(record)?;
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.classify_error(e))?;
        let deleted = transaction.execute("DELETE FROM record WHERE id = ?1", [&record.id]);
        if deleted.map_err(|e| self.classify_error(e))? == 0 {
            return Err(malformed(&record.id, "there is no record to be amended".to_owned()));
        }
        insert_record(&transaction, &packed, false)
            .and_then(|()| transaction.commit())
            .map_err(|e| self.classify_error(e))
    }

    /// Stores all records or none, even if this process is killed; returns the number of new records.
    ///
    /// # Errors
    /// The error of [`Repository::finish`] for the first record that cannot be stored; then none is stored.
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

    /// Starts a batch of records that are stored together or not at all.
    ///
    /// # Errors
    /// The file cannot be written, or another process locks it for too long.
    pub fn batch(&self) -> Result<RecordBatch<'_>, RepositoryError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.classify_error(e))?;
        Ok(RecordBatch { repository: self, transaction, packer: Packer::new(), stored: 0 })
    }

    /// Stores a record in an open transaction; returns false if it already exists.
    fn store(&self, transaction: &Transaction<'_>, record: &PackedRecord) -> Result<bool, RepositoryError> {
        let stored: Option<Option<Vec<u8>>> = transaction
            .prepare_cached(KNOWN)
            .and_then(|mut known| known.query_row([&record.id], |row| row.get(0)).optional())
            .map_err(|e| self.classify_error(e))?;
        let was_begun = stored.is_some();
        if let Some(there) = stored.flatten() {
            // Another version of this program may have compressed it differently.
            let same =
                there == record.packed || pack::unpack(&there).ok() == pack::unpack(&record.packed).ok();
            return if same { Ok(false) } else { Err(RepositoryError::Exists { id: record.id.clone() }) };
        }
        insert_record(transaction, record, was_begun).map_err(|e| self.classify_error(e))?;
        Ok(true)
    }

    /// Deletes a run and its record permanently; `selector` as for [`Repository::load`]. Returns the run's name.
    ///
    /// # Errors
    /// No run or several match, or the file cannot be written.
    pub fn delete(&self, selector: &str) -> Result<RunId, RepositoryError> {
        let id = self.resolve(selector)?;
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.classify_error(e))?;
        transaction
            .execute("DELETE FROM record WHERE id = ?1", [&id])
            .and_then(|_| transaction.execute("DELETE FROM run WHERE id = ?1", [&id]))
            .and_then(|_| transaction.commit())
            .map_err(|e| self.classify_error(e))?;
        Ok(id)
    }
}

/// Records that are stored together: all with [`RecordBatch::commit`], otherwise none, even if this process is killed. The records
/// need not stay in memory.
#[derive(Debug)]
pub struct RecordBatch<'r> {
    repository: &'r Repository,
    transaction: Transaction<'r>,
    packer: Packer,
    stored: usize,
}

impl RecordBatch<'_> {
    /// Adds a record; returns false if an identical one exists.
    ///
    /// # Errors
    /// The errors of [`Repository::finish`]. If the name exists with another record, the batch can continue; after other errors, drop it.
    pub fn add(&mut self, record: &RunRecord) -> Result<bool, RepositoryError> {
        let packed = self.packer.pack(record)?;
        self.add_packed(&packed)
    }

    /// Adds a packed record; returns false if an identical one exists.
    ///
    /// # Errors
    /// The same as for [`RecordBatch::add`].
    pub fn add_packed(&mut self, packed: &PackedRecord) -> Result<bool, RepositoryError> {
        let is_new = self.repository.store(&self.transaction, packed)?;
        self.stored += usize::from(is_new);
        Ok(is_new)
    }

    /// Stores the records; returns the number of new ones.
    ///
    /// # Errors
    /// The file cannot be written; then no record is stored.
    pub fn commit(self) -> Result<usize, RepositoryError> {
        self.transaction.commit().map_err(|e| self.repository.classify_error(e))?;
        Ok(self.stored)
    }
}

/// Writes the summary columns and the packed record. Deletes the draft and chunks that were stored in case of no record, if
/// the run `was_begun` here.
fn insert_record(
    transaction: &Transaction<'_>,
    record: &PackedRecord,
    was_begun: bool,
) -> rusqlite::Result<()> {
    // Prepare once for all records of a batch: preparing takes longer than storing.
    let execute = |sql: &str, values: &[&dyn ToSql]| transaction.prepare_cached(sql)?.execute(values);
    execute(
        PUT_RUN,
        params![
            record.id,
            record.started_at,
            record.started_us,
            record.status,
            record.engine,
            record.target,
            record.sessions,
            record.update_pct,
            record.ops_per_s,
            record.p99_us,
            record.logical_reads_per_s,
            record.physical_reads_per_s,
            record.redo_mb_per_s,
            record.seconds,
            record.reason,
        ],
    )?;
    put_member(transaction, &record.id, record.part_of.as_ref())?;
    execute(
        PUT_RECORD,
        params![record.id, i64::try_from(record.json_bytes).unwrap_or(i64::MAX), record.packed],
    )?;
    execute(PUT_DETAIL, params![record.id, record.database, record.undated, record.marked])?;
    if was_begun {
        execute("DELETE FROM draft WHERE id = ?1", params![record.id])?;
        // If the record has only an overview, keep the full series.
        if !record.is_overview {
            execute("DELETE FROM chunk WHERE id = ?1", params![record.id])?;
        }
    }
    for (kind, name) in &record.marks {
        execute(PUT_MARK, params![kind, name, record.id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{new_run_id, rfc3339, sample};

    /// Adds `count` runs that were not started here; returns how many steps each statement takes for them.
    fn steps(batch: &mut RecordBatch<'_>, from: u32, count: u32) -> Vec<i32> {
        let cached = |sql: &str| batch.repository.connection.prepare_cached(sql).unwrap();
        for sql in [KNOWN, PUT_RUN, PUT_RECORD, PUT_DETAIL, PUT_MARK] {
            cached(sql).reset_status(StatementStatus::VmStep);
        }
        let model = sample::minimal();
        for number in from..from + count {
            let at = jiff::Timestamp::from_second(1_774_000_000 + i64::from(number)).unwrap();
            let id = new_run_id(at, number as u16);
            let record = RunRecord { id, started_at: rfc3339(at), tags: vec!["all".into()], ..model.clone() };
            let packed = batch.packer.pack_known_plan(&record).unwrap();
            assert!(batch.add_packed(&packed).unwrap());
        }
        let cached = |sql: &str| batch.repository.connection.prepare_cached(sql).unwrap();
        [KNOWN, PUT_RUN, PUT_RECORD, PUT_DETAIL, PUT_MARK]
            .into_iter()
            .map(|sql| cached(sql).get_status(StatementStatus::VmStep))
            .collect()
    }

    #[test]
    fn batch_insert_cost_is_constant_over_1000_records() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::open(&folder.path().join("runs.sqlite3")).unwrap();
        let mut batch = repository.batch().unwrap();
        let first = steps(&mut batch, 0, 50);
        assert!(first.iter().all(|&steps| steps > 0), "{first:?}");
        steps(&mut batch, 50, 900);
        assert_eq!(steps(&mut batch, 950, 50), first);
        assert_eq!(batch.commit().unwrap(), 1_000);
    }
}
