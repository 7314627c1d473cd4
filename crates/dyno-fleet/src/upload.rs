//! The thread that sends an agent's intervals and results, repeating each message until it is acknowledged.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dyno_drive::IntervalCounts;

use crate::coding::{decode, encode, encode_with_payload};
use crate::messages::{Receipt, Upload};
use crate::pieces::{TransferPiece, pieces};
use crate::wire::Wire;

/// How long an acknowledgement may take before the message is sent again.
const RECEIPT_MAX: Duration = Duration::from_secs(2);
/// Maximum number of intervals in one message; one with its latencies takes at most 2 kB.
const INTERVALS_MAX: usize = 200;

enum UploadItem {
    Intervals(Vec<IntervalCounts>),
    Results(Vec<u8>),
}

pub(crate) struct Uploader {
    sender: Sender<UploadItem>,
    thread: JoinHandle<bool>,
    stop: Arc<AtomicBool>,
}

impl Uploader {
    /// Starts the thread, which sends to `subject` for the host of this rank.
    pub(crate) fn start(wire: Arc<Wire>, subject: String, rank: u32) -> std::io::Result<Self> {
        let (give, given) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("dyno-upload".to_owned())
            .spawn(move || upload(&wire, &subject, rank, &given, &stopped))?;
        Ok(Self { sender: give, thread, stop })
    }

    /// Queues completed intervals of the sessions.
    pub(crate) fn intervals(&self, intervals: Vec<IntervalCounts>) {
        if !intervals.is_empty() {
            let _ = self.sender.send(UploadItem::Intervals(intervals));
        }
    }

    /// Sends the packed results and waits until all are acknowledged or `gives_up` returns true. Returns
    /// whether all were acknowledged.
    pub(crate) fn results(self, packed: Vec<u8>, gives_up: &dyn Fn() -> bool) -> bool {
        let _ = self.sender.send(UploadItem::Results(packed));
        drop(self.sender);
        while !self.thread.is_finished() {
            if gives_up() {
                self.stop.store(true, Ordering::Release);
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        self.thread.join().unwrap_or(false)
    }
}

fn upload(wire: &Wire, subject: &str, rank: u32, parcels: &Receiver<UploadItem>, stop: &AtomicBool) -> bool {
    let mut number = 0;
    while let Ok(parcel) = parcels.recv() {
        match parcel {
            UploadItem::Intervals(intervals) => {
                let mut rest = intervals;
                while !rest.is_empty() {
                    let later = rest.split_off(rest.len().min(INTERVALS_MAX));
                    let upload = Upload::Intervals { rank, number, intervals: rest };
                    if !send(wire, subject, &encode(&upload), stop) {
                        return false;
                    }
                    number += 1;
                    rest = later;
                }
            }
            UploadItem::Results(packed) => {
                return pieces(&packed).all(|(TransferPiece { number, piece_count: of, sum }, bytes)| {
                    let upload = Upload::Piece { rank, number, of, sum };
                    send(wire, subject, &encode_with_payload(&upload, bytes), stop)
                });
            }
        }
    }
    false
}

/// Sends a message until it is acknowledged; returns whether it was.
fn send(wire: &Wire, subject: &str, bytes: &[u8], stop: &AtomicBool) -> bool {
    while !stop.load(Ordering::Acquire) {
        match wire.ask(subject, bytes.to_vec(), RECEIPT_MAX).map(|answer| decode::<Receipt>(&answer)) {
            Some(Ok(Receipt::Have)) => return true,
            Some(Ok(Receipt::Refused(_))) => return false,
            // Without a receiver the server answers at once. The pause prevents a busy loop.
            Some(Err(_)) | None => std::thread::park_timeout(Duration::from_millis(100)),
        }
    }
    false
}
