//! Receives the agents' reports and results during a run, on the NATS client's thread; the conductor reads
//! them.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use dyno_drive::{IntervalCounts, ResultShape, WorkerStatus};
use dyno_engine::Clock;
use parking_lot::{Condvar, Mutex};

use crate::coding::{decode, decode_with_payload, encode};
use crate::error::FleetError;
use crate::limits::{HANDED_BYTES_MAX, SESSION_BYTES_MAX};
use crate::member::FleetMember;
use crate::messages::{AgentReport, Receipt, Upload};
use crate::pieces::{PieceAssembler, TransferPiece};
use crate::subjects::{Subjects, plain};
use crate::wire::{IncomingMessage, Subscription, Wire};

/// One host of a run, with its sessions.
pub(crate) struct AgentSlot {
    pub(crate) member: Arc<FleetMember>,
    /// The numbers of the host's sessions.
    pub(crate) numbers: Vec<u32>,
    pub(crate) weight: u32,
}

/// What one host has reported and handed in so far.
#[derive(Default)]
pub(crate) struct AgentStatus {
    /// Number of the latest report; older ones are ignored.
    number: u64,
    pub(crate) worker_status: WorkerStatus,
    /// Whether the host has reached all targets.
    pub(crate) reached: bool,
    /// When the host last reported; absent before its first report.
    pub(crate) reported: Option<Instant>,
    /// Number of interval messages received.
    intervals: u64,
    pieces: PieceAssembler,
    /// The packed results; absent until they have arrived completely.
    pub(crate) packed_results: Option<Vec<u8>>,
    /// Why the host counts as lost; absent while it takes part.
    pub(crate) lost_reason: Option<String>,
    /// Longest delay after a scheduled moment with which the host received a step, ns.
    pub(crate) late_ns: u64,
}

/// Receives everything that the hosts of one run send.
pub(crate) struct AgentInbox {
    pub(crate) slots: Vec<AgentSlot>,
    pub(crate) statuses: Mutex<Vec<AgentStatus>>,
    changed: Condvar,
    shape: ResultShape,
    clock: Arc<dyn Clock>,
    /// When the window began; intervals that lie in the future are refused.
    origin_ns: Mutex<Option<u64>>,
}

impl AgentInbox {
    pub(crate) fn new(slots: Vec<AgentSlot>, shape: ResultShape, clock: Arc<dyn Clock>) -> Arc<Self> {
        let statuses = slots.iter().map(|_| AgentStatus::default()).collect();
        Arc::new(Self {
            slots,
            statuses: Mutex::new(statuses),
            changed: Condvar::new(),
            shape,
            clock,
            origin_ns: Mutex::default(),
        })
    }

    /// Waits for the next message, for at most `patience`.
    pub(crate) fn wait(&self, patience: Duration) {
        self.changed.wait_for(&mut self.statuses.lock(), patience);
    }

    /// Marks a host as lost; the first reason is kept.
    pub(crate) fn mark_lost(&self, rank: usize, why: String) {
        if let Some(status) = self.statuses.lock().get_mut(rank) {
            status.lost_reason.get_or_insert(why);
        }
        self.changed.notify_all();
    }

    /// Notes when the window began.
    pub(crate) fn note_window_open(&self, origin_ns: u64) {
        *self.origin_ns.lock() = Some(origin_ns);
    }

    /// Subscribes to the reports and results of the hosts of `run_id`; sends intervals to `full`.
    ///
    /// # Errors
    /// The server refuses the subscription.
    pub(crate) fn listen(
        self: &Arc<Self>,
        wire: &Wire,
        subjects: &Subjects,
        run_id: &str,
        full: Sender<Box<IntervalCounts>>,
    ) -> Result<[Subscription; 2], FleetError> {
        let (reports, uploads) = (Arc::clone(self), Arc::clone(self));
        Ok([
            wire.subscribe(&subjects.reports(run_id), move |message: IncomingMessage, _| {
                reports.report(&message.bytes);
            })?,
            wire.subscribe(&subjects.uploads(run_id), move |incoming: IncomingMessage, answerer| {
                let receipt = uploads.upload(&incoming.bytes, &full);
                if let Some(reply) = &incoming.reply {
                    answerer.answer(reply, encode(&receipt));
                }
            })?,
        ])
    }

    fn report(&self, bytes: &[u8]) {
        // Undecodable reports are ignored. An agent that sends only these counts as lost, because it is
        // silent.
        let Ok(report) = decode::<AgentReport>(bytes) else { return };
        let (rank, mut heard) = (report.rank as usize, self.statuses.lock());
        let (Some(seat), Some(own)) = (self.slots.get(rank), heard.get_mut(rank)) else { return };
        seat.member.note_contact();
        if report.number <= own.number {
            return;
        }
        own.number = report.number;
        own.reached = report.reached;
        own.reported = Some(Instant::now());
        own.worker_status = bounded_status(report.standing, seat.numbers.len() as u32);
        drop(heard);
        self.changed.notify_all();
    }

    pub(crate) fn upload(&self, bytes: &[u8], full: &Sender<Box<IntervalCounts>>) -> Receipt {
        let (upload, rest) = match decode_with_payload::<Upload>(bytes) {
            Ok(read) => read,
            Err(why) => return Receipt::Refused(why),
        };
        let rank = match &upload {
            Upload::Intervals { rank, .. } | Upload::Piece { rank, .. } => *rank as usize,
        };
        let Some(slot) = self.slots.get(rank) else {
            return Receipt::Refused(format!("no host has rank {rank}"));
        };
        slot.member.note_contact();
        let outcome = match upload {
            Upload::Intervals { number, intervals, .. } => self.intervals(rank, number, intervals, full),
            Upload::Piece { number, of, sum, .. } => {
                self.piece(rank, TransferPiece { number, piece_count: of, sum }, rest)
            }
        };
        self.changed.notify_all();
        match outcome {
            Ok(()) => Receipt::Have,
            Err(why) => {
                self.mark_lost(rank, format!("it sent invalid data: {why}"));
                Receipt::Refused(why)
            }
        }
    }

    fn intervals(
        &self,
        rank: usize,
        number: u64,
        intervals: Vec<IntervalCounts>,
        full: &Sender<Box<IntervalCounts>>,
    ) -> Result<(), String> {
        let origin_ns = *self.origin_ns.lock();
        let age_ns = origin_ns.map_or(0, |origin_ns| self.clock.now_ns().saturating_sub(origin_ns));
        if intervals.iter().any(|interval| !interval.is_of(&self.shape, age_ns)) {
            return Err("an interval of another run, or of the future".to_owned());
        }
        let status = &mut self.statuses.lock()[rank];
        match number.cmp(&status.intervals) {
            // This message was received before; its acknowledgement was lost.
            std::cmp::Ordering::Less => return Ok(()),
            std::cmp::Ordering::Greater => return Err("a message of intervals is missing".to_owned()),
            std::cmp::Ordering::Equal => status.intervals += 1,
        }
        for interval in intervals {
            // The receiver ends only after the run, so a failed send loses nothing.
            let _ = full.send(Box::new(interval));
        }
        Ok(())
    }

    fn piece(&self, rank: usize, piece: TransferPiece, bytes: &[u8]) -> Result<(), String> {
        let most = HANDED_BYTES_MAX + self.slots[rank].numbers.len() * SESSION_BYTES_MAX / 8;
        let status = &mut self.statuses.lock()[rank];
        if status.packed_results.is_none() {
            status.packed_results = status.pieces.take(piece, bytes, most)?;
        }
        Ok(())
    }
}

/// Limits the reported counts to the number of sessions.
fn bounded_status(status: WorkerStatus, sessions: u32) -> WorkerStatus {
    let at_most = |count: u32| count.min(sessions);
    WorkerStatus {
        ready: at_most(status.ready),
        at_edge: status.at_edge.map(at_most),
        ended: at_most(status.ended),
        reached_ops: at_most(status.reached_ops),
        overhead: status
            .overhead
            .into_iter()
            .take(64)
            .map(|count| count.clamp(-(1 << 44), 1 << 44))
            .collect(),
        failure: status.failure.map(|failure| plain(&failure)),
        ..status
    }
}
