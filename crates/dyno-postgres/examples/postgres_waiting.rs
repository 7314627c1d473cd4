//! Compares ways for a client to wait for a server's results, by cost and throughput.
//!
//! - `thread`: one thread per session that sleeps in `recv`, as in Dyno's sessions;
//! - `yield`: the same, but the thread yields once before it sleeps;
//! - `spin`: the same, but the thread polls for the result for up to 20 µs before it sleeps;
//! - `epoll`: one thread per processor for all sessions that sleeps in `epoll_wait` and handles results as
//!   they arrive.
//!
//! All send the same messages and read the clock twice per operation. docs/internals/performance-notes.md
//! contains the results.
//!
//! `cargo run --release -p dyno-postgres --example postgres_waiting -- SOCKET ROWS SESSIONS SECONDS MODE`;
//! the server must trust user `postgres`, and the data must be loaded with `dyno load`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for developers")]
#![allow(unsafe_code, reason = "epoll and getrusage have no safe interface in the standard library")]

use std::io::{Read, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// The longest time to poll for a result before sleeping.
const SPIN: Duration = Duration::from_micros(20);
/// A ReadyForQuery message with the status idle.
const READY: [u8; 6] = [b'Z', 0, 0, 0, 5, b'I'];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Thread,
    Yield,
    Spin,
    Epoll,
}

/// One session: its socket, its message with space for the key, and its figures.
struct Session {
    socket: UnixStream,
    message: Vec<u8>,
    key_at: usize,
    state: u64,
    rows: u64,
    began: Instant,
    ops: u64,
    busy: Duration,
}

fn put(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(tag);
    out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    out.extend_from_slice(body);
}

impl Session {
    fn open(path: &str, number: u64, rows: u64) -> Self {
        let mut socket = UnixStream::connect(path).unwrap();
        let startup = b"\0\x03\0\0user\0postgres\0database\0postgres\0options\0-c plan_cache_mode=force_generic_plan\0\0";
        let mut hello = (startup.len() as u32 + 4).to_be_bytes().to_vec();
        hello.extend_from_slice(startup);
        socket.write_all(&hello).unwrap();
        until_ready(&mut socket);
        let mut prepare = Vec::new();
        put(&mut prepare, b'P', b"l\0SELECT c2 FROM dyno.rows_1 WHERE custid = $1\0\0\x01\0\0\0\x14");
        put(&mut prepare, b'S', b"");
        socket.write_all(&prepare).unwrap();
        until_ready(&mut socket);
        let mut message = Vec::new();
        put(&mut message, b'B', b"\0l\0\0\x01\0\x01\0\x01\0\0\0\x08\0\0\0\0\0\0\0\0\0\x01\0\x01");
        let key_at = message.len() - 12;
        put(&mut message, b'E', b"\0\0\0\0\0");
        put(&mut message, b'S', b"");
        let state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { socket, message, key_at, state, rows, began: Instant::now(), ops: 0, busy: Duration::ZERO }
    }

    fn send(&mut self) {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = 1 + (self.state >> 33) % self.rows;
        self.message[self.key_at..self.key_at + 8].copy_from_slice(&key.to_be_bytes());
        self.began = Instant::now();
        self.socket.write_all(&self.message).unwrap();
    }

    /// One `recv`; the result of a lookup arrives in one piece.
    fn receive(&mut self, buffer: &mut [u8]) {
        let count = self.socket.read(buffer).unwrap();
        assert!(buffer[..count].ends_with(&READY), "another answer than to a lookup");
        assert!(buffer[0] == b'2', "another answer than to a lookup");
        self.busy += self.began.elapsed();
        self.ops += 1;
    }

    /// Whether a result has arrived.
    fn peek(&self) -> bool {
        let mut byte = 0u8;
        // SAFETY: the pointer is to one byte that we own, and the length says so.
        let got = unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                (&raw mut byte).cast(),
                1,
                libc::MSG_PEEK | libc::MSG_DONTWAIT,
            )
        };
        got == 1
    }
}

fn until_ready(socket: &mut UnixStream) {
    let mut all = Vec::new();
    let mut buffer = [0; 8192];
    while !all.ends_with(&READY) {
        let count = socket.read(&mut buffer).unwrap();
        assert!(count > 0, "the server hung up");
        all.extend_from_slice(&buffer[..count]);
    }
}

fn one_by_one(session: &mut Session, mode: Mode, ends: Instant) {
    let mut buffer = [0; 16 * 1024];
    while session.began < ends {
        session.send();
        match mode {
            Mode::Yield => std::thread::yield_now(),
            Mode::Spin => while !session.peek() && session.began.elapsed() < SPIN {},
            Mode::Thread | Mode::Epoll => {}
        }
        session.receive(&mut buffer);
    }
}

fn all_at_once(sessions: &mut [Session], ends: Instant) {
    // SAFETY: no pointers are passed; a failure returns -1, which epoll_ctl below rejects.
    let epoll = unsafe { libc::epoll_create1(0) };
    for (number, session) in sessions.iter_mut().enumerate() {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: number as u64 };
        // SAFETY: `event` outlives the call, which copies it.
        let added = unsafe {
            libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, session.socket.as_raw_fd(), &raw mut event)
        };
        assert_eq!(added, 0);
        session.send();
    }
    let mut buffer = [0; 16 * 1024];
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; sessions.len()];
    let mut open = sessions.len();
    while open > 0 {
        // SAFETY: the array has space for as many events as the length says.
        let ready = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), events.len() as i32, -1) };
        for event in &events[..usize::try_from(ready).unwrap()] {
            let session = &mut sessions[event.u64 as usize];
            session.receive(&mut buffer);
            if session.began < ends { session.send() } else { open -= 1 }
        }
    }
}

fn cpu() -> Duration {
    // SAFETY: a struct of integers, for which zero is a valid value, and which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let time = |t: libc::timeval| Duration::from_micros(t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args[i].parse::<u64>().unwrap();
    let (rows, count, seconds) = (number(2), number(3), number(4));
    let mode = match args[5].as_str() {
        "thread" => Mode::Thread,
        "yield" => Mode::Yield,
        "spin" => Mode::Spin,
        "epoll" => Mode::Epoll,
        other => panic!("no such mode: {other}"),
    };
    let mut sessions: Vec<Session> = (0..count).map(|n| Session::open(&args[1], n, rows)).collect();
    let processors = std::thread::available_parallelism().unwrap().get();
    let sessions_per_thread = if mode == Mode::Epoll { sessions.len().div_ceil(processors) } else { 1 };
    let gate = Barrier::new(sessions.len().div_ceil(sessions_per_thread));
    let (cpu_before, began) = (cpu(), Instant::now());
    let ends = began + Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        for group in sessions.chunks_mut(sessions_per_thread) {
            let gate = &gate;
            scope.spawn(move || {
                gate.wait();
                if mode == Mode::Epoll {
                    all_at_once(group, ends);
                } else {
                    one_by_one(&mut group[0], mode, ends);
                }
            });
        }
    });
    let took_s = began.elapsed().as_secs_f64();
    let ops: u64 = sessions.iter().map(|session| session.ops).sum();
    let busy: Duration = sessions.iter().map(|session| session.busy).sum();
    println!(
        "{{\"ops_per_s\": {:.0}, \"cpu_us\": {:.3}, \"service_us\": {:.2}}}",
        ops as f64 / took_s,
        (cpu() - cpu_before).as_secs_f64() * 1e6 / ops as f64,
        busy.as_secs_f64() * 1e6 / ops as f64
    );
}
