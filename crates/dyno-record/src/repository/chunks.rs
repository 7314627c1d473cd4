//! Full series, stored apart from their records: in chunks of some hundred intervals each, written while the run lasts.
//!
//! A run's chunks are there from its first intervals on. When it ends and its record holds every interval, they go; when the
//! record holds an overview, they stay, and go with the run.

use std::collections::{BTreeMap, VecDeque};

use rusqlite::{OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::{Repository, RepositoryError, pack};
use crate::id::RunId;
use crate::series::{Chunk, Part, SeriesPoint};

/// Intervals in a chunk.
const POINTS: usize = 240;

/// Chunks that wait for room or for a lock; what comes before the last so many is given up. At 1 s and of two targets, an hour
/// and a half, and some 60 MB.
const WAITING_MAX: usize = 64;

/// Points that are reported late and wait.
const LATE_MAX: usize = 10_000;

impl Repository {
    /// Stores chunks of the run `id`, all or none; one that begins with the same interval takes the place of the one before.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be written.
    pub fn keep_chunks<'c>(
        &self,
        id: &str,
        chunks: impl IntoIterator<Item = &'c Chunk>,
    ) -> Result<(), RepositoryError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.sorted(e))?;
        for chunk in chunks {
            let json =
                chunk.to_json().map_err(|source| RepositoryError::Record { id: id.to_owned(), source })?;
            let sql = "INSERT INTO chunk (id, part, first, points, json_bytes, packed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                       ON CONFLICT (id, part, first) DO UPDATE SET
                           points = excluded.points, json_bytes = excluded.json_bytes, packed = excluded.packed";
            let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            let (first, points) = (whole(chunk.first), whole(chunk.points.len() as u64));
            let values = params![id, chunk.part, first, points, whole(json.len() as u64), pack::pack(&json)];
            let mut insert = transaction.prepare_cached(sql).map_err(|e| self.sorted(e))?;
            insert.execute(values).map_err(|e| self.sorted(e))?;
        }
        transaction.commit().map_err(|e| self.sorted(e))
    }

    /// The chunk of the run `id` that holds the interval of this number, if it is stored.
    fn chunk_with(&self, id: &str, part: Part, interval: u64) -> Result<Option<Chunk>, RepositoryError> {
        let sql = "SELECT first, packed FROM chunk WHERE id = ?1 AND part = ?2 AND first <= ?3
                   ORDER BY first DESC LIMIT 1";
        Ok(self.chunk(sql, id, part, interval)?.filter(|chunk| interval < chunk.end()))
    }

    fn chunk(&self, sql: &str, id: &str, part: Part, first: u64) -> Result<Option<Chunk>, RepositoryError> {
        let first = i64::try_from(first).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut select| select.query_row(params![id, part, first], read).optional())
            .map_err(|e| self.sorted(e))?;
        let Some((first, packed)) = found else { return Ok(None) };
        pack::unpack(&packed)
            .and_then(|json| Chunk::from_json(part, u64::try_from(first).unwrap_or(0), &json))
            .map(Some)
            .map_err(|source| RepositoryError::Record { id: id.to_owned(), source })
    }

    /// The stored chunks of one part of the run `id`, in order; one at a time is in memory.
    pub fn chunks(&self, id: &str, part: Part) -> Chunks<'_> {
        Chunks { repository: self, id: id.to_owned(), part, next: Some(0) }
    }

    /// How many intervals of one part of the run `id` are stored in chunks.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn chunked_points(&self, id: &str, part: Part) -> Result<u64, RepositoryError> {
        let sql = "SELECT coalesce(sum(points), 0) FROM chunk WHERE id = ?1 AND part = ?2";
        let sum: i64 = self
            .connection
            .query_row(sql, params![id, part], |row| row.get(0))
            .map_err(|e| self.sorted(e))?;
        Ok(u64::try_from(sum).unwrap_or(0))
    }
}

/// The stored chunks of a series, in order.
#[derive(Debug)]
pub struct Chunks<'r> {
    repository: &'r Repository,
    id: RunId,
    part: Part,
    /// The least number that the next may begin with; nothing after an error.
    next: Option<u64>,
}

impl Iterator for Chunks<'_> {
    type Item = Result<Chunk, RepositoryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let sql = "SELECT first, packed FROM chunk WHERE id = ?1 AND part = ?2 AND first >= ?3
                   ORDER BY first LIMIT 1";
        let found = self.repository.chunk(sql, &self.id, self.part, self.next?).transpose()?;
        // Behind its first interval: a chunk without any must not be read for ever.
        self.next = found.as_ref().ok().map(|chunk| chunk.end().max(chunk.first + 1));
        Some(found)
    }
}

/// Gathers the series of a run that is under way into chunks, and stores them. What cannot be stored waits, within bounds.
#[derive(Debug)]
pub struct SeriesWriter {
    id: RunId,
    /// The chunk of each part that still grows.
    open: BTreeMap<Part, Chunk>,
    /// Those parts of which it has grown since it was stored.
    grown: Vec<Part>,
    /// Full chunks that are not stored yet.
    waiting: VecDeque<Chunk>,
    /// Points of intervals that were in a stored chunk already.
    late: Vec<(Part, u64, SeriesPoint)>,
    lost: u64,
}

impl SeriesWriter {
    /// For the run of this name.
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

    /// Takes in the next intervals.
    pub fn add(&mut self, stretch: Chunk) {
        let part = stretch.part;
        for (number, point) in (stretch.first..).zip(stretch.points) {
            let begin = || Chunk { part, first: number, points: Vec::with_capacity(POINTS) };
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

    /// Takes in what was reported of intervals that [`SeriesWriter::add`] has taken in before.
    pub fn add_late(&mut self, stretch: Chunk) {
        let part = stretch.part;
        for (number, point) in (stretch.first..).zip(stretch.points) {
            let open = self.open.get_mut(&part);
            let mut in_memory =
                open.into_iter().chain(self.waiting.iter_mut().filter(|chunk| chunk.part == part));
            let holds = |chunk: &&mut Chunk| (chunk.first..chunk.end()).contains(&number);
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

    /// Stores what has come since it was last stored. What cannot be stored is tried again the next time.
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

    /// Intervals that were given up because they could not be stored for too long.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Intervals that are not stored yet.
    pub fn unwritten(&self) -> u64 {
        let grown = self.grown.iter().filter_map(|part| self.open.get(part));
        self.waiting.iter().chain(grown).map(|chunk| chunk.points.len() as u64).sum()
    }

    fn make_room(&mut self) {
        while self.waiting.len() > WAITING_MAX {
            let gone = self.waiting.pop_front();
            self.lost += gone.map_or(0, |chunk| chunk.points.len() as u64);
        }
    }
}
