//! The thread by which an agent hands over what its sessions did: message by message, each until it is acknowledged.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dyno_drive::Interval;

use crate::coding::{read, written, written_with};
use crate::messages::{Receipt, Upload};
use crate::pieces::{Piece, pieces};
use crate::wire::Wire;

/// How long an acknowledgement may take, before the message is sent again.
const RECEIPT_MAX: Duration = Duration::from_secs(2);
/// Intervals in one message: one with its latencies takes two kilobytes at most.
const INTERVALS_MAX: usize = 200;

/// What is to be handed over.
enum Parcel {
    Intervals(Vec<Interval>),
    Results(Vec<u8>),
}

/// The thread.
pub(crate) struct Uploader {
    give: Sender<Parcel>,
    thread: JoinHandle<bool>,
    stop: Arc<AtomicBool>,
}

impl Uploader {
    /// Starts it; what it is given goes to `subject` as from the host of this rank.
    pub(crate) fn start(wire: Arc<Wire>, subject: String, rank: u32) -> std::io::Result<Self> {
        let (give, given) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("dyno-upload".to_owned())
            .spawn(move || upload(&wire, &subject, rank, &given, &stopped))?;
        Ok(Self { give, thread, stop })
    }

    /// Hands over what sessions did in some intervals.
    pub(crate) fn intervals(&self, intervals: Vec<Interval>) {
        if !intervals.is_empty() {
            let _ = self.give.send(Parcel::Intervals(intervals));
        }
    }

    /// Hands over what they measured, packed, and waits until all of it is acknowledged, or `gives_up`; returns whether it is.
    pub(crate) fn results(self, packed: Vec<u8>, gives_up: &dyn Fn() -> bool) -> bool {
        let _ = self.give.send(Parcel::Results(packed));
        drop(self.give);
        while !self.thread.is_finished() {
            if gives_up() {
                self.stop.store(true, Ordering::Release);
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        self.thread.join().unwrap_or(false)
    }
}

fn upload(wire: &Wire, subject: &str, rank: u32, given: &Receiver<Parcel>, stop: &AtomicBool) -> bool {
    let mut number = 0;
    while let Ok(parcel) = given.recv() {
        match parcel {
            Parcel::Intervals(intervals) => {
                let mut rest = intervals;
                while !rest.is_empty() {
                    let later = rest.split_off(rest.len().min(INTERVALS_MAX));
                    let upload = Upload::Intervals { rank, number, intervals: rest };
                    if !send(wire, subject, &written(&upload), stop) {
                        return false;
                    }
                    number += 1;
                    rest = later;
                }
            }
            Parcel::Results(packed) => {
                return pieces(&packed).all(|(Piece { number, of, sum }, bytes)| {
                    let upload = Upload::Piece { rank, number, of, sum };
                    send(wire, subject, &written_with(&upload, bytes), stop)
                });
            }
        }
    }
    false
}

/// Sends a message until it is acknowledged; returns whether it was.
fn send(wire: &Wire, subject: &str, bytes: &[u8], stop: &AtomicBool) -> bool {
    while !stop.load(Ordering::Acquire) {
        match wire.ask(subject, bytes.to_vec(), RECEIPT_MAX).map(|answer| read::<Receipt>(&answer)) {
            Some(Ok(Receipt::Have)) => return true,
            Some(Ok(Receipt::Refused(_))) => return false,
            // Nobody is there, which is answered at once: not asked a thousand times a second.
            Some(Err(_)) | None => std::thread::park_timeout(Duration::from_millis(100)),
        }
    }
    false
}
