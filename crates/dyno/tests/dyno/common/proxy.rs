//! A TCP proxy in front of PostgreSQL that disturbs individual connections like a network: it stops
//! forwarding, delays, and cuts. Connections are selected by their `application_name`.

use std::collections::{HashMap, HashSet};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

/// A proxy between clients and one server on loopback.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A connection's name, once it is known.
type Name = Arc<OnceLock<String>>;

#[derive(Default)]
struct State {
    /// Names of connections that are held in both directions.
    held: HashSet<String>,
    /// Names of connections whose answers are held.
    answers_held: HashSet<String>,
    /// Names of held connections with data to forward.
    waiting: HashSet<String>,
    /// Delay of each direction by name.
    delays: HashMap<String, Duration>,
    /// Every connection so far: client and server.
    connections: Vec<(Name, TcpStream, TcpStream)>,
    is_closed: bool,
}

impl State {
    fn is_held(&self, name: &str, from: Side) -> bool {
        self.held.contains(name) || (from == Side::Server && self.answers_held.contains(name))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

impl Proxy {
    /// Starts a proxy for the server at `upstream`.
    pub fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let its_shared = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if its_shared.state.lock().unwrap().is_closed {
                    return;
                }
                // If the server is down, this connection is closed as well.
                let Ok(server) = TcpStream::connect(("127.0.0.1", upstream)) else { continue };
                forward(client, server, &its_shared);
            }
        });
        Self { port, shared }
    }

    /// URL of database `postgres` for the superuser through the proxy. Without TLS, so that names can be
    /// read.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    /// Holds both directions of this connection from now on.
    pub fn hold(&self, name: &str) {
        let mut state = self.shared.state.lock().unwrap();
        state.waiting.remove(name);
        state.held.insert(name.to_owned());
    }

    /// Holds the server's answers to this connection from now on; its requests are forwarded.
    pub fn hold_answers(&self, name: &str) {
        let mut state = self.shared.state.lock().unwrap();
        state.waiting.remove(name);
        state.answers_held.insert(name.to_owned());
    }

    /// Waits until a held connection has data to forward.
    pub fn wait_until_waiting(&self, name: &str) {
        let mut state = self.shared.state.lock().unwrap();
        while !state.waiting.contains(name) {
            state = self.shared.changed.wait(state).unwrap();
        }
    }

    /// Forwards the held data and the following data again.
    pub fn release(&self, name: &str) {
        let mut state = self.shared.state.lock().unwrap();
        state.held.remove(name);
        state.answers_held.remove(name);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Delays each direction of this connection by `delay` from now on.
    pub fn delay(&self, name: &str, delay: Duration) {
        self.shared.state.lock().unwrap().delays.insert(name.to_owned(), delay);
    }

    /// Cuts the connections of this name and discards their held data; new ones are forwarded. Returns their
    /// number.
    pub fn cut(&self, name: &str) -> usize {
        let mut state = self.shared.state.lock().unwrap();
        let is_cut = |its_name: &Name| its_name.get().is_some_and(|its_name| its_name == name);
        let (cut, remaining) = std::mem::take(&mut state.connections).into_iter().partition(|c| is_cut(&c.0));
        let cut: Vec<_> = cut;
        state.connections = remaining;
        for (_, client, server) in &cut {
            // A connection that has already ended needs no cut.
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
        state.held.remove(name);
        state.answers_held.remove(name);
        drop(state);
        self.shared.changed.notify_all();
        cut.len()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        state.is_closed = true;
        state.held.clear();
        state.answers_held.clear();
        state.connections.clear();
        drop(state);
        self.shared.changed.notify_all();
        // Wakes the accepting thread, which then ends.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn forward(client: TcpStream, server: TcpStream, shared: &Arc<Shared>) {
    // Nagle's algorithm would delay each answer by 40 ms.
    client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).unwrap();
    let name = Name::default();
    for (side, from, to) in [(Side::Client, &client, &server), (Side::Server, &server, &client)] {
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let (shared, name) = (Arc::clone(shared), Arc::clone(&name));
        std::thread::spawn(move || pump(side, from, to, &shared, &name));
    }
    shared.state.lock().unwrap().connections.push((name, client, server));
}

fn pump(side: Side, mut from: TcpStream, mut to: TcpStream, shared: &Shared, name: &OnceLock<String>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(bytes @ 1..) = from.read(&mut buffer) {
        if let Some(found) = application_name(&buffer[..bytes]) {
            let _ = name.set(found);
        }
        if let Some(name) = name.get() {
            let delay = shared.state.lock().unwrap().delays.get(name).copied();
            std::thread::sleep(delay.unwrap_or_default());
            wait_while_held(shared, name, side);
        }
        if to.write_all(&buffer[..bytes]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

fn wait_while_held(shared: &Shared, name: &str, side: Side) {
    let mut state = shared.state.lock().unwrap();
    while state.is_held(name, side) {
        // Notified once: two held directions would otherwise wake each other forever.
        if state.waiting.insert(name.to_owned()) {
            shared.changed.notify_all();
        }
        state = shared.changed.wait(state).unwrap();
    }
}

/// The name in a startup message.
fn application_name(bytes: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"application_name\0";
    let at = bytes.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let name = bytes[at..].split(|&byte| byte == 0).next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    name.starts_with("dyno ").then_some(name)
}
