//! What a leader hears of a run while it goes on, taken in on the client's thread and looked at by the conductor.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dyno_drive::{Interval, Shape, Standing};
use dyno_engine::Clock;

use crate::coding::{read, read_with, written};
use crate::error::FleetError;
use crate::limits::{HANDED_BYTES_MAX, SESSION_BYTES_MAX};
use crate::member::Member;
use crate::messages::{Receipt, Report, Upload};
use crate::pieces::{Piece, Pieces};
use crate::subjects::{Subjects, plain};
use crate::wire::{Came, Hearing, Wire};

/// One host of a run.
pub(crate) struct Seat {
    pub(crate) member: Arc<Member>,
    /// The numbers of its sessions.
    pub(crate) numbers: Vec<u32>,
    pub(crate) weight: u32,
}

/// What was heard of one host.
#[derive(Default)]
pub(crate) struct Heard {
    /// The number of the report that holds.
    number: u64,
    pub(crate) standing: Standing,
    /// Whether it has reached all targets.
    pub(crate) reached: bool,
    /// When it last reported.
    pub(crate) reported: Option<Instant>,
    /// How many messages with intervals were taken in.
    intervals: u64,
    pieces: Pieces,
    /// What it handed in, packed, once all of it is there.
    pub(crate) handed: Option<Vec<u8>>,
    /// Why it does not count any more.
    pub(crate) lost: Option<String>,
    /// How much too late its sessions heard of a moment, ns.
    pub(crate) late_ns: u64,
}

/// What was heard of a run.
pub(crate) struct Ear {
    pub(crate) seats: Vec<Seat>,
    heard: Mutex<Vec<Heard>>,
    changed: Condvar,
    shape: Shape,
    clock: Arc<dyn Clock>,
    /// When the window began: no interval can be older.
    origin_ns: Mutex<Option<u64>>,
}

impl Ear {
    pub(crate) fn new(seats: Vec<Seat>, shape: Shape, clock: Arc<dyn Clock>) -> Arc<Self> {
        let heard = seats.iter().map(|_| Heard::default()).collect();
        Arc::new(Self {
            seats,
            heard: Mutex::new(heard),
            changed: Condvar::new(),
            shape,
            clock,
            origin_ns: Mutex::default(),
        })
    }

    /// What was heard so far, by rank.
    pub(crate) fn heard(&self) -> MutexGuard<'_, Vec<Heard>> {
        // Plain values, which stay usable whoever panicked.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is heard, for so long.
    pub(crate) fn wait(&self, patience: Duration) {
        drop(self.changed.wait_timeout(self.heard(), patience));
    }

    /// A host does not count any more; the first reason holds.
    pub(crate) fn lose(&self, rank: usize, why: String) {
        if let Some(heard) = self.heard().get_mut(rank) {
            heard.lost.get_or_insert(why);
        }
        self.changed.notify_all();
    }

    /// The window has begun.
    pub(crate) fn opened(&self, origin_ns: u64) {
        *self.origin_ns.lock().unwrap_or_else(PoisonError::into_inner) = Some(origin_ns);
    }

    /// Listens to what the hosts of `run_id` report and hand over; intervals go to `full`.
    ///
    /// # Errors
    /// The server does not let this client hear it.
    pub(crate) fn listen(
        self: &Arc<Self>,
        wire: &Wire,
        subjects: &Subjects,
        run_id: &str,
        full: Sender<Box<Interval>>,
    ) -> Result<[Hearing; 2], FleetError> {
        let (reports, uploads) = (Arc::clone(self), Arc::clone(self));
        Ok([
            wire.hear_with(&subjects.reports(run_id), move |came: Came, _| reports.report(&came.bytes))?,
            wire.hear_with(&subjects.uploads(run_id), move |came: Came, answerer| {
                let receipt = uploads.upload(&came.bytes, &full);
                if let Some(reply) = &came.reply {
                    answerer.answer(reply, written(&receipt));
                }
            })?,
        ])
    }

    fn report(&self, bytes: &[u8]) {
        // Whoever sends no report is not heard: an agent that does is lost by its silence.
        let Ok(report) = read::<Report>(bytes) else { return };
        let (rank, mut heard) = (report.rank as usize, self.heard());
        let (Some(seat), Some(own)) = (self.seats.get(rank), heard.get_mut(rank)) else { return };
        seat.member.heard();
        if report.number <= own.number {
            return;
        }
        own.number = report.number;
        own.reached = report.reached;
        own.reported = Some(Instant::now());
        own.standing = bounded(report.standing, seat.numbers.len() as u32);
        drop(heard);
        self.changed.notify_all();
    }

    pub(crate) fn upload(&self, bytes: &[u8], full: &Sender<Box<Interval>>) -> Receipt {
        let (upload, rest) = match read_with::<Upload>(bytes) {
            Ok(read) => read,
            Err(why) => return Receipt::Refused(why),
        };
        let rank = match &upload {
            Upload::Intervals { rank, .. } | Upload::Piece { rank, .. } => *rank as usize,
        };
        let Some(seat) = self.seats.get(rank) else {
            return Receipt::Refused(format!("there is no host of rank {rank}"));
        };
        seat.member.heard();
        let taken = match upload {
            Upload::Intervals { number, intervals, .. } => self.intervals(rank, number, intervals, full),
            Upload::Piece { number, of, sum, .. } => self.piece(rank, Piece { number, of, sum }, rest),
        };
        self.changed.notify_all();
        match taken {
            Ok(()) => Receipt::Have,
            Err(why) => {
                self.lose(rank, format!("it sent what cannot be: {why}"));
                Receipt::Refused(why)
            }
        }
    }

    fn intervals(
        &self,
        rank: usize,
        number: u64,
        intervals: Vec<Interval>,
        full: &Sender<Box<Interval>>,
    ) -> Result<(), String> {
        let origin_ns = *self.origin_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let age_ns = origin_ns.map_or(0, |origin_ns| self.clock.now_ns().saturating_sub(origin_ns));
        if intervals.iter().any(|interval| !interval.is_of(&self.shape, age_ns)) {
            return Err("an interval of another run, or of the future".to_owned());
        }
        let heard = &mut self.heard()[rank];
        match number.cmp(&heard.intervals) {
            // It was taken in, and the receipt was lost.
            std::cmp::Ordering::Less => return Ok(()),
            std::cmp::Ordering::Greater => return Err("a message of intervals is missing".to_owned()),
            std::cmp::Ordering::Equal => heard.intervals += 1,
        }
        for interval in intervals {
            // The collector has gone only when the run is over.
            let _ = full.send(Box::new(interval));
        }
        Ok(())
    }

    fn piece(&self, rank: usize, piece: Piece, bytes: &[u8]) -> Result<(), String> {
        let most = HANDED_BYTES_MAX + self.seats[rank].numbers.len() * SESSION_BYTES_MAX / 8;
        let heard = &mut self.heard()[rank];
        if heard.handed.is_none() {
            heard.handed = heard.pieces.take(piece, bytes, most)?;
        }
        Ok(())
    }
}

/// A standing that no number of which says more than there is.
fn bounded(standing: Standing, sessions: u32) -> Standing {
    let at_most = |count: u32| count.min(sessions);
    Standing {
        ready: at_most(standing.ready),
        at_edge: standing.at_edge.map(at_most),
        ended: at_most(standing.ended),
        reached_ops: at_most(standing.reached_ops),
        overhead: standing
            .overhead
            .into_iter()
            .take(64)
            .map(|count| count.clamp(-(1 << 44), 1 << 44))
            .collect(),
        failure: standing.failure.map(|failure| plain(&failure)),
        ..standing
    }
}
