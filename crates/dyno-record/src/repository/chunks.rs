//! Full series, stored separately from their records in chunks of intervals, written during the run.
//!
//! Chunks exist from a run's first intervals on. If the final record contains every interval, they are deleted. If it contains
//! an overview, they are kept until the run is deleted.

use std::collections::{BTreeMap, VecDeque};

use rusqlite::{OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::{Repository, RepositoryError, pack};
use crate::id::RunId;
use crate::series::{SeriesChunk, SeriesPart, SeriesPoint};

/// Number of intervals in a chunk.
const POINTS: usize = 240;

/// The largest number of full chunks that wait for space or a lock; older ones are discarded. With two targets and an interval
/// of 1 s, this covers an hour and a half and about 60 MB.
const WAITING_MAX: usize = 64;

/// The largest number of late points that wait to be stored.
const LATE_MAX: usize = 10_000;

impl Repository {
    /// Stores all chunks of the run `id` or none; a chunk replaces one with the same first interval.
    ///
    /// # Errors
    /// The run does not exist, or the file cannot be written.
    pub fn keep_chunks<'c>(
        &self,
        id: &str,
        chunks: impl IntoIterator<Item = &'c SeriesChunk>,
    ) -> Result<(), RepositoryError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.classify_error(e))?;
        for chunk in chunks {
            let json =
                chunk.to_json().map_err(|source| RepositoryError::Record { id: id.to_owned(), source })?;
            let sql = "INSERT INTO chunk (id, part, first, points, json_bytes, packed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                       ON CONFLICT (id, part, first) DO UPDATE SET
                           points = excluded.points, json_bytes = excluded.json_bytes, packed = excluded.packed";
            let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            let (first, points) = (whole(chunk.first), whole(chunk.points.len() as u64));
            let values = params![id, chunk.part, first, points, whole(json.len() as u64), pack::pack(&json)];
            let mut insert = transaction.prepare_cached(sql).map_err(|e| self.classify_error(e))?;
            insert.execute(values).map_err(|e| self.classify_error(e))?;
        }
        transaction.commit().map_err(|e| self.classify_error(e))
    }

    /// The stored chunk of the run `id` that contains this interval; `None` if there is none.
    fn chunk_with(
        &self,
        id: &str,
        part: SeriesPart,
        interval: u64,
    ) -> Result<Option<SeriesChunk>, RepositoryError> {
        let sql = "SELECT first, packed FROM chunk WHERE id = ?1 AND part = ?2 AND first <= ?3
                   ORDER BY first DESC LIMIT 1";
        Ok(self.chunk(sql, id, part, interval)?.filter(|chunk| interval < chunk.end()))
    }

    fn chunk(
        &self,
        sql: &str,
        id: &str,
        part: SeriesPart,
        first: u64,
    ) -> Result<Option<SeriesChunk>, RepositoryError> {
        let first = i64::try_from(first).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let stored_row = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut select| select.query_row(params![id, part, first], read).optional())
            .map_err(|e| self.classify_error(e))?;
        let Some((first, packed)) = stored_row else { return Ok(None) };
        pack::unpack(&packed)
            .and_then(|json| SeriesChunk::from_json(part, u64::try_from(first).unwrap_or(0), &json))
            .map(Some)
            .map_err(|source| RepositoryError::Record { id: id.to_owned(), source })
    }

    /// The stored chunks of one part of the run `id`, in order; only one at a time is in memory.
    pub fn chunks(&self, id: &str, part: SeriesPart) -> StoredChunks<'_> {
        StoredChunks { repository: self, id: id.to_owned(), part, next: Some(0) }
    }

    /// The number of intervals of one part of the run `id` that chunks contain.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn chunked_points(&self, id: &str, part: SeriesPart) -> Result<u64, RepositoryError> {
        let sql = "SELECT coalesce(sum(points), 0) FROM chunk WHERE id = ?1 AND part = ?2";
        let sum: i64 = self
            .connection
            .query_row(sql, params![id, part], |row| row.get(0))
            .map_err(|e| self.classify_error(e))?;
        Ok(u64::try_from(sum).unwrap_or(0))
    }
}

/// Iterates over the stored chunks of a series, in order.
#[derive(Debug)]
pub struct StoredChunks<'r> {
    repository: &'r Repository,
    id: RunId,
    part: SeriesPart,
    /// The smallest first interval of the next chunk; `None` after an error.
    next: Option<u64>,
}

impl Iterator for StoredChunks<'_> {
    type Item = Result<SeriesChunk, RepositoryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let sql = "SELECT first, packed FROM chunk WHERE id = ?1 AND part = ?2 AND first >= ?3
                   ORDER BY first LIMIT 1";
        let next_chunk = self.repository.chunk(sql, &self.id, self.part, self.next?).transpose()?;
        // Move past its first interval, so that a chunk without intervals is not read forever.
        self.next = next_chunk.as_ref().ok().map(|chunk| chunk.end().max(chunk.first + 1));
        Some(next_chunk)
    }
}

/// Collects the series of a running run into chunks and stores them. Chunks that cannot be stored wait, up to a limit.
#[derive(Debug)]
pub struct SeriesWriter {
    id: RunId,
    /// The chunk of each part that is still growing.
    open: BTreeMap<SeriesPart, SeriesChunk>,
    /// Parts whose growing chunk has changed since it was stored.
    grown: Vec<SeriesPart>,
    /// Full chunks that are not yet stored.
    waiting: VecDeque<SeriesChunk>,
    /// Late points of intervals in chunks that are already stored.
    late: Vec<(SeriesPart, u64, SeriesPoint)>,
    lost: u64,
}

impl SeriesWriter {
    /// A writer for the run with this name.
    pub fn new(id: RunId) -> Self {
        Self {
            id,
            open: BTreeMap::new(),
            grown: Vec::new(),
            waiting: VecDeque::new(),
            late: Vec::new(),
            lost: 0,
        }
    }

    /// Adds the next intervals of a part.
    pub fn add(&mut self, stretch: SeriesChunk) {
        let part = stretch.part;
        for (number, point) in (stretch.first..).zip(stretch.points) {
            let begin = || SeriesChunk { part, first: number, points: Vec::with_capacity(POINTS) };
            let open = self.open.entry(part).or_insert_with(begin);
            if open.points.len() >= POINTS || open.end() != number {
                let full = std::mem::replace(open, begin());
                self.waiting.push_back(full);
            }
            if let Some(open) = self.open.get_mut(&part) {
                open.points.push(point);
            }
        }
        if !self.grown.contains(&part) {
            self.grown.push(part);
        }
        self.make_room();
    }

    /// Adds late results to intervals that [`SeriesWriter::add`] already received.
    pub fn add_late(&mut self, stretch: SeriesChunk) {
        let part = stretch.part;
        for (number, point) in (stretch.first..).zip(stretch.points) {
            let open = self.open.get_mut(&part);
            let mut in_memory =
                open.into_iter().chain(self.waiting.iter_mut().filter(|chunk| chunk.part == part));
            let holds = |chunk: &&mut SeriesChunk| (chunk.first..chunk.end()).contains(&number);
            match in_memory.find(holds) {
                Some(chunk) => {
                    chunk.points[(number - chunk.first) as usize].add_late(&point);
                    if !self.grown.contains(&part) {
                        self.grown.push(part);
                    }
                }
                None if self.late.len() < LATE_MAX => self.late.push((part, number, point)),
                None => {}
            }
        }
    }

    /// Stores what changed since the last call. After an error the next call tries again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, repository: &Repository) -> Result<(), RepositoryError> {
        let grown = self.grown.iter().filter_map(|part| self.open.get(part));
        repository.keep_chunks(&self.id, self.waiting.iter().chain(grown))?;
        self.waiting.clear();
        self.grown.clear();
        while let Some((part, number, point)) = self.late.last() {
            if let Some(mut chunk) = repository.chunk_with(&self.id, *part, *number)? {
                chunk.points[(number - chunk.first) as usize].add_late(point);
                repository.keep_chunks(&self.id, [&chunk])?;
            }
            self.late.pop();
        }
        Ok(())
    }

    /// Intervals that were discarded because they could not be stored in time.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of intervals that are not yet stored.
    pub fn unwritten(&self) -> u64 {
        let grown = self.grown.iter().filter_map(|part| self.open.get(part));
        self.waiting.iter().chain(grown).map(|chunk| chunk.points.len() as u64).sum()
    }

    fn make_room(&mut self) {
        while self.waiting.len() > WAITING_MAX {
            let dropped = self.waiting.pop_front();
            self.lost += dropped.map_or(0, |chunk| chunk.points.len() as u64);
        }
    }
}
