//! Connections with time limits: a client that sends nothing, sends half a request, or does not read loses
//! its slot.
//!
//! The number of slots is limited. When all are taken, a new connection replaces the one without a request
//! for the longest time. So idle connections cannot block new clients.

use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Limits on connections, so that slow and idle clients cannot block others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum number of connections at the same time.
    pub connections_max: usize,
    /// Longest wait for a TLS handshake.
    pub handshake: Duration,
    /// Longest wait for a request, and for the rest of one that has begun; applies to head and body
    /// separately.
    pub request: Duration,
    /// Longest wait for a client to read more of an answer.
    pub write: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        // Enough for fifty viewers, whose browsers open at most six connections each.
        let [handshake, request, write] = [10, 30, 60].map(Duration::from_secs);
        Self { connections_max: 512, handshake, request, write }
    }
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    pub(crate) peer: SocketAddr,
    opened: Instant,
    /// Time of the last read or write, ms after `opened`.
    progress_ms: AtomicU64,
    /// Begin of the current request, ms after `opened`, plus one; 0 between requests.
    request_ms: AtomicU64,
    /// Whether a handler is processing the request, or its answer is being sent.
    is_served: AtomicBool,
    is_evicted: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl ConnectionSlot {
    fn new(peer: SocketAddr) -> Arc<Self> {
        Arc::new(Self {
            peer,
            opened: Instant::now(),
            progress_ms: AtomicU64::new(0),
            request_ms: AtomicU64::new(1),
            is_served: AtomicBool::new(false),
            is_evicted: AtomicBool::new(false),
            waker: Mutex::new(None),
        })
    }

    fn now_ms(&self) -> u64 {
        self.opened.elapsed().as_millis() as u64
    }

    /// Notes that a complete request has arrived.
    pub(crate) fn begin_answer(&self) {
        self.is_served.store(true, Ordering::Release);
    }

    fn note_read(&self) {
        let now_ms = self.now_ms();
        self.progress_ms.store(now_ms, Ordering::Release);
        let _ = self.request_ms.compare_exchange(0, now_ms + 1, Ordering::AcqRel, Ordering::Acquire);
    }

    fn note_write(&self) {
        self.progress_ms.store(self.now_ms(), Ordering::Release);
        self.request_ms.store(0, Ordering::Release);
        self.is_served.store(false, Ordering::Release);
    }

    /// When the wait for the client ends; absent while the server is working on an answer.
    fn read_deadline(&self, limits: &ConnectionLimits) -> Option<Instant> {
        if self.is_served.load(Ordering::Acquire) {
            return None;
        }
        let progress_ms = self.progress_ms.load(Ordering::Acquire);
        let since_ms = match self.request_ms.load(Ordering::Acquire) {
            0 => progress_ms,
            request => request - 1,
        };
        Some(self.opened + Duration::from_millis(since_ms) + limits.request)
    }

    /// Waits until the slot is given to another connection.
    pub(crate) async fn evicted(&self) {
        std::future::poll_fn(|cx| {
            *self.waker.lock() = Some(cx.waker().clone());
            match self.is_evicted.load(Ordering::Acquire) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }

    fn evict(&self) {
        self.is_evicted.store(true, Ordering::Release);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// All open connections, and their limits.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    limits: ConnectionLimits,
    open: Mutex<Vec<Arc<ConnectionSlot>>>,
}

impl ConnectionSlots {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::new(Vec::new()) })
    }

    /// Returns a slot for a connection from `peer`. If none is free, the connection without a request for the
    /// longest time loses its slot. Absent if all connections are being answered.
    pub(crate) fn take(self: &Arc<Self>, peer: SocketAddr) -> Option<TakenSlot> {
        let mut open = self.open.lock();
        if open.len() >= self.limits.connections_max {
            let waits = |place: &Arc<ConnectionSlot>| !place.is_served.load(Ordering::Acquire);
            // Connections of the client with the most slots are closed first. Otherwise one client could
            // displace all others.
            let held = |peer: SocketAddr| open.iter().filter(|place| place.peer.ip() == peer.ip()).count();
            let progress = |place: &Arc<ConnectionSlot>| {
                place.opened + Duration::from_millis(place.progress_ms.load(Ordering::Acquire))
            };
            let candidates = open.iter().enumerate().filter(|(_, place)| waits(place));
            let at = candidates
                .min_by_key(|(_, place)| (std::cmp::Reverse(held(place.peer)), progress(place)))
                .map(|(at, _)| at)?;
            open.swap_remove(at).evict();
        }
        let place = ConnectionSlot::new(peer);
        open.push(Arc::clone(&place));
        Some(TakenSlot { place, places: Arc::clone(self) })
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.open.lock().len()
    }
}

/// An occupied slot, which is freed when its connection ends.
#[derive(Debug)]
pub(crate) struct TakenSlot {
    pub(crate) place: Arc<ConnectionSlot>,
    places: Arc<ConnectionSlots>,
}

impl Drop for TakenSlot {
    fn drop(&mut self) {
        let mut open = self.places.open.lock();
        open.retain(|place| !Arc::ptr_eq(place, &self.place));
    }
}

/// The byte stream of a client, with or without TLS.
pub(crate) trait ClientStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ClientStream for T {}

/// A connection that ends if its client is too slow, or if another one needs its slot.
pub(crate) struct WebConnection {
    stream: Box<dyn ClientStream>,
    taken: TakenSlot,
    timer: Pin<Box<Sleep>>,
}

impl std::fmt::Debug for WebConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl WebConnection {
    pub(crate) fn new(stream: Box<dyn ClientStream>, taken_place: TakenSlot) -> Self {
        let timer = Box::pin(tokio::time::sleep(taken_place.places.limits.request));
        Self { stream, taken: taken_place, timer }
    }

    pub(crate) fn slot(&self) -> &Arc<ConnectionSlot> {
        &self.taken.place
    }

    /// Returns an error once `deadline` has passed or the slot was given away; otherwise the task is woken
    /// when that happens.
    fn poll_end(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> Poll<io::Error> {
        let place = &self.taken.place;
        *place.waker.lock() = Some(cx.waker().clone());
        if place.is_evicted.load(Ordering::Acquire) {
            return Poll::Ready(io::ErrorKind::ConnectionAborted.into());
        }
        // While a handler is working, its answer wakes the task.
        let Some(deadline) = deadline else { return Poll::Pending };
        if deadline <= Instant::now() {
            return Poll::Ready(io::ErrorKind::TimedOut.into());
        }
        self.timer.as_mut().reset(deadline);
        match self.timer.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_written(
        &mut self,
        written: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(_)) = written {
            self.taken.place.note_write();
        }
        if written.is_ready() {
            return written;
        }
        let place = &self.taken.place;
        let progress = Duration::from_millis(place.progress_ms.load(Ordering::Acquire));
        let deadline = place.opened + progress + self.taken.places.limits.write;
        self.poll_end(Some(deadline), cx).map(Err)
    }
}

impl AsyncRead for WebConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if read.is_ready() {
            if buf.filled().len() > before {
                self.taken.place.note_read();
            }
            // A request that arrives byte by byte does not extend its deadline.
            let limits = self.taken.places.limits;
            let deadline = self.taken.place.read_deadline(&limits);
            if deadline.is_none_or(|deadline| deadline > Instant::now()) {
                return read;
            }
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let limits = self.taken.places.limits;
        let deadline = self.taken.place.read_deadline(&limits);
        self.poll_end(deadline, cx).map(Err)
    }
}

impl AsyncWrite for WebConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.poll_written(written, cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn peer(last: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, last], 4_000))
    }

    fn limits(connections_max: usize) -> ConnectionLimits {
        ConnectionLimits { connections_max, ..ConnectionLimits::default() }
    }

    #[test]
    fn new_client_replaces_slot_of_client_with_most_idle_slots() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let places = ConnectionSlots::new(limits(3));
            let quiet = places.take(peer(1)).unwrap();
            let many: Vec<TakenSlot> = (0..2).map(|_| places.take(peer(2)).unwrap()).collect();
            let newcomer = places.take(peer(3)).unwrap();
            assert_eq!(places.count(), 3);
            assert!(many[0].place.is_evicted.load(Ordering::Acquire));
            assert!(!quiet.place.is_evicted.load(Ordering::Acquire));
            for taken in [&quiet, &many[1], &newcomer] {
                taken.place.begin_answer();
            }
            assert!(places.take(peer(4)).is_none(), "all are being answered");
            drop(quiet);
            assert!(places.take(peer(4)).is_some());
        });
    }

    #[test]
    fn slow_or_silent_client_is_cut_off_at_time_limit() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let places = ConnectionSlots::new(limits(9));
            let limit = places.limits.request;
            // A client that sends nothing.
            let (_client, server) = tokio::io::duplex(64);
            let mut connection = WebConnection::new(Box::new(server), places.take(peer(1)).unwrap());
            let began = Instant::now();
            let error = connection.read_u8().await.unwrap_err();
            assert_eq!((error.kind(), began.elapsed()), (io::ErrorKind::TimedOut, limit));
            // A client that sends single bytes with pauses.
            let (mut client, server) = tokio::io::duplex(64);
            let mut connection = WebConnection::new(Box::new(server), places.take(peer(1)).unwrap());
            let began = Instant::now();
            let drip = async {
                loop {
                    let _ = client.write_u8(b'x').await;
                    tokio::time::sleep(limit / 10).await;
                }
            };
            let read = async { while connection.read_u8().await.is_ok() {} };
            tokio::select! { () = drip => {}, () = read => {} }
            assert!(began.elapsed() >= limit);
            assert!(began.elapsed() < limit * 2);
            // A connection whose handler is slow is not closed.
            let (_client, server) = tokio::io::duplex(64);
            let mut connection = WebConnection::new(Box::new(server), places.take(peer(1)).unwrap());
            connection.slot().begin_answer();
            assert!(tokio::time::timeout(limit * 3, connection.read_u8()).await.is_err());
        });
    }

    #[test]
    fn client_that_does_not_read_is_cut_off() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let places = ConnectionSlots::new(limits(9));
            let (_client, server) = tokio::io::duplex(64);
            let mut connection = WebConnection::new(Box::new(server), places.take(peer(1)).unwrap());
            let error = connection.write_all(&[0; 1_000]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        });
    }
}
