//! Lets a thread of several sessions sleep on their sockets, a timer, and a waker for other threads.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// Event keys that do not belong to a session.
const WAKER_KEY: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
/// Events taken at once; the rest follows at the next call.
const EVENTS: usize = 64;

/// Wakes a sleeping [`Poll`] from another thread.
#[derive(Debug)]
pub(crate) struct PollWaker(OwnedFd);

impl PollWaker {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Wakes the thread; if it does not sleep, its next sleep ends at once.
    pub(crate) fn wake(&self) {
        // It fails only after 2^64 wakes without a sleep.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }
}

/// Whether `socket` is readable, at once or within `patience`.
pub(crate) fn is_readable(socket: BorrowedFd<'_>, patience: Duration) -> bool {
    let patience =
        Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
    let mut sockets = [PollFd::from_borrowed_fd(socket, PollFlags::IN)];
    // A signal is no reason to give up: the caller reads the clock and asks again.
    poll(&mut sockets, Some(&patience)).is_ok_and(|ready| ready > 0)
}

/// Sleeps until a socket is readable, a time has come, or the waker is used.
#[derive(Debug)]
pub(crate) struct Poll {
    epoll: OwnedFd,
    /// `epoll_wait` itself counts milliseconds; its more precise successor needs Linux 5.11.
    timer: OwnedFd,
    timer_set: bool,
}

impl Poll {
    pub(crate) fn new(waker: &PollWaker) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &waker.0, EventData::new_u64(WAKER_KEY), EventFlags::IN)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        Ok(Self { epoll, timer, timer_set: false })
    }

    /// Adds `socket`, which from now on ends a sleep as session `index`.
    pub(crate) fn add(&self, socket: BorrowedFd<'_>, index: usize) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(index as u64), EventFlags::IN)?)
    }

    /// Removes `socket`. Call it before the socket is closed: others may hold a second handle on it.
    pub(crate) fn remove(&self, socket: BorrowedFd<'_>) {
        // It fails only if the socket was not added, which is the wanted state.
        let _ = epoll::delete(&self.epoll, socket);
    }

    /// Sleeps, at most for `patience` if there is one, and puts the sessions with readable sockets into
    /// `ready`.
    pub(crate) fn wait(
        &mut self,
        waker: &PollWaker,
        patience: Option<Duration>,
        ready: &mut Vec<usize>,
    ) -> io::Result<()> {
        self.set_timer(patience)?;
        let mut room = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room, None) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => &mut [],
            Err(error) => return Err(error.into()),
        };
        ready.clear();
        for event in events {
            match event.data.u64() {
                WAKER_KEY => waker.clear(),
                // Setting the timer again clears its expiration.
                TIMER => {}
                index => ready.push(index as usize),
            }
        }
        Ok(())
    }

    fn set_timer(&mut self, patience: Option<Duration>) -> io::Result<()> {
        if patience.is_none() && !self.timer_set {
            return Ok(());
        }
        self.timer_set = patience.is_some();
        // A duration of zero would switch the timer off.
        let patience = patience.map_or(Duration::ZERO, |time| time.max(Duration::from_nanos(1)));
        let it_value = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn socket_waker_and_timer_each_end_a_poll() {
        let waker = PollWaker::new().unwrap();
        let mut poll = Poll::new(&waker).unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        poll.add(far.as_fd(), 7).unwrap();
        let mut ready: Vec<usize> = Vec::new();

        poll.wait(&waker, Some(Duration::from_micros(50)), &mut ready).unwrap();
        assert!(ready.is_empty());
        near.write_all(b"x").unwrap();
        poll.wait(&waker, None, &mut ready).unwrap();
        assert_eq!(ready, [7]);
        poll.remove(far.as_fd());
        waker.wake();
        poll.wait(&waker, None, &mut ready).unwrap();
        assert!(ready.is_empty());
        // The wake was consumed, so only the timer ends the next sleep.
        poll.wait(&waker, Some(Duration::ZERO), &mut ready).unwrap();
        assert!(ready.is_empty());
    }
}
