//! The smallest possible client, as a reference figure for Dyno (`make bench-limit`). It sends a lookup for
//! each session that has its answer, sleeps once for all of them, and reads what has arrived. Its bytes are
//! those of Dyno's ready workload `point-select`. It reads no clock per operation, counts only operations,
//! and draws keys by one multiplication.
//!
//! `cargo run --release -p dyno-drive --example bare -- postgres|mysql SOCKET ROWS SESSIONS SECONDS`: on
//! PostgreSQL as `postgres` in the database of that name, on MariaDB as `root` in the database `bench`, both
//! without a password. The table must exist.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for developers")]

use std::io::{Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// The bytes of a protocol that Dyno sends and receives.
#[derive(Clone, Copy)]
struct Protocol {
    /// Connects and prepares; returns the statement's number on the server.
    open: fn(&mut UnixStream) -> [u8; 4],
    /// A lookup, the place of its key, and the place of the statement's number, if it has one.
    lookup: &'static [u8],
    key_at: usize,
    number_at: Option<usize>,
    key: fn(u64) -> [u8; 8],
    /// The last bytes of each answer.
    end: &'static [u8],
}

const POSTGRES: Protocol = Protocol {
    open: open_postgres,
    lookup: b"B\0\0\0\x23\0point_1\0\0\x01\0\x01\0\x01\0\0\0\x08\0\0\0\0\0\0\0\0\0\x01\0\x01E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04",
    key_at: 24,
    number_at: None,
    key: u64::to_be_bytes,
    end: b"Z\0\0\0\x05I",
};

const MYSQL: Protocol = Protocol {
    open: open_mysql,
    lookup: b"\x16\0\0\0\x17\x01\0\0\0\0\x01\0\0\0\0\x01\x08\0\0\0\0\0\0\0\0\0",
    key_at: 18,
    number_at: Some(5),
    key: u64::to_le_bytes,
    end: b"\x07\0\0\x03\xfe\0\0\x02\0\0\0",
};

fn open_postgres(socket: &mut UnixStream) -> [u8; 4] {
    let start = b"\0\0\0\x26\0\x03\0\0user\0postgres\0database\0postgres\0\0";
    let mut start = start.to_vec();
    start[3] = start.len() as u8;
    socket.write_all(&start).unwrap();
    until(socket, POSTGRES.end);
    let sql = b"point_1\0SELECT c FROM points_rows WHERE id = $1\0\0\x01\0\0\0\x14";
    let mut prepare = vec![b'P', 0, 0, 0, sql.len() as u8 + 4];
    prepare.extend_from_slice(sql);
    prepare.extend_from_slice(b"S\0\0\0\x04");
    socket.write_all(&prepare).unwrap();
    until(socket, POSTGRES.end);
    [0; 4]
}

fn open_mysql(socket: &mut UnixStream) -> [u8; 4] {
    const OK: &[u8] = b"\0\0\0\x02\0\0\0";
    until(socket, b"\0");
    // The same capabilities as Dyno's. The last four bytes before the name are MariaDB's own: column
    // definitions are sent once.
    let mut login = b"\0\0\0\x01\x8c\xa2\x2f\x01\0\0\0\x40\x2d".to_vec();
    login.extend_from_slice(&[0; 19]);
    login.extend_from_slice(b"\x10\0\0\0root\0\0bench\0mysql_native_password\0");
    login[0] = login.len() as u8 - 4;
    socket.write_all(&login).unwrap();
    until(socket, OK);
    // The settings that Dyno's sessions make.
    let settings = b"\x03SET SESSION autocommit = 1, SESSION character_set_results = NULL";
    let mut set = vec![settings.len() as u8, 0, 0, 0];
    set.extend_from_slice(settings);
    socket.write_all(&set).unwrap();
    until(socket, OK);
    let sql = b"SELECT c FROM points_rows WHERE id = ?";
    let mut prepare = vec![sql.len() as u8 + 1, 0, 0, 0, 0x16];
    prepare.extend_from_slice(sql);
    socket.write_all(&prepare).unwrap();
    // The definition of its one column arrives last.
    let prepared = until(socket, b"\0\0\0\0\0");
    prepared[5..9].try_into().unwrap()
}

/// Reads until the received bytes end with `end`; returns them.
fn until(socket: &mut UnixStream, end: &[u8]) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 8192]);
    while !all.ends_with(end) {
        let count = socket.read(&mut buffer).unwrap();
        assert!(count > 0, "the server hung up after {}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..count]);
    }
    all
}

/// One session: its socket, the number of its statement, and the state of its draws.
struct Session {
    socket: UnixStream,
    number: [u8; 4],
    state: u64,
}

/// Executes lookups in all sessions until `ends`; returns their number.
fn lead(protocol: Protocol, mut sessions: Vec<Session>, rows: u64, ends: Instant) -> u64 {
    let poll = epoll::create(CreateFlags::CLOEXEC).unwrap();
    let mut message = protocol.lookup.to_vec();
    let mut send = |session: &mut Session| {
        session.state =
            session.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = 1 + (session.state >> 33) % rows;
        message[protocol.key_at..protocol.key_at + 8].copy_from_slice(&(protocol.key)(key));
        if let Some(at) = protocol.number_at {
            message[at..at + 4].copy_from_slice(&session.number);
        }
        session.socket.write_all(&message).unwrap();
    };
    for (number, session) in sessions.iter_mut().enumerate() {
        epoll::add(&poll, &session.socket, EventData::new_u64(number as u64), EventFlags::IN).unwrap();
        send(session);
    }
    let mut buffer = [0; 16 * 1024];
    let (mut ops, mut open) = (0, sessions.len());
    while open > 0 {
        let mut room = [const { MaybeUninit::<Event>::uninit() }; 64];
        let (ready, _) = epoll::wait(&poll, &mut room, None).unwrap();
        let is_over = Instant::now() >= ends;
        for event in ready {
            let session = &mut sessions[event.data.u64() as usize];
            let count = session.socket.read(&mut buffer).unwrap();
            let answer = &buffer[..count];
            assert!(
                answer.ends_with(protocol.end),
                "this is no answer to a lookup: {}",
                answer.escape_ascii()
            );
            ops += 1;
            if is_over { open -= 1 } else { send(session) }
        }
    }
    ops
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, protocol, path, rows, count, seconds] = args.as_slice() else {
        panic!("bare postgres|mysql SOCKET ROWS SESSIONS SECONDS")
    };
    let protocol = match protocol.as_str() {
        "postgres" => POSTGRES,
        "mysql" => MYSQL,
        other => panic!("no such protocol: {other}"),
    };
    let number = |text: &String| text.parse::<u64>().unwrap();
    let (rows, count) = (number(rows), number(count));
    let mut sessions: Vec<Session> = (0..count)
        .map(|number| {
            let mut socket = UnixStream::connect(path).unwrap();
            let statement = (protocol.open)(&mut socket);
            Session { socket, number: statement, state: number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
        })
        .collect();
    let threads = std::thread::available_parallelism().unwrap().get().min(sessions.len());
    let began = Instant::now();
    let ends = began + Duration::from_secs(number(seconds));
    let sessions_per_thread = sessions.len().div_ceil(threads);
    let leading: Vec<_> = (0..threads)
        .map(|_| {
            let thread_sessions = sessions.split_off(sessions.len().saturating_sub(sessions_per_thread));
            std::thread::spawn(move || lead(protocol, thread_sessions, rows, ends))
        })
        .collect();
    let ops: u64 = leading.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{{\"ops\": {ops}, \"ops_per_s\": {:.1}}}", ops as f64 / began.elapsed().as_secs_f64());
}
