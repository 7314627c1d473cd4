//! A TCP proxy in front of PostgreSQL that can stop forwarding for one connection, as a network does that has lost it.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, OnceLock};

/// Forwards between clients and one server on loopback.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// Names of connections for which nothing is forwarded.
    held: HashSet<String>,
    /// Names of connections of which something waits to be forwarded.
    waiting: HashSet<String>,
    gone: bool,
}

impl Proxy {
    /// In front of the server at `upstream`.
    pub fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let its_shared = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if its_shared.state.lock().unwrap().gone {
                    return;
                }
                // A server that is down refuses, and so do we.
                let Ok(server) = TcpStream::connect(("127.0.0.1", upstream)) else { continue };
                // Waiting to fill packets would delay each answer by 40 ms.
                client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).unwrap();
                let name = Arc::new(OnceLock::new());
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (shared, name) = (Arc::clone(&its_shared), Arc::clone(&name));
                    std::thread::spawn(move || pump(from, to, &shared, &name));
                }
            }
        });
        Self { port, shared }
    }

    /// The URL of database `postgres` for the superuser through the proxy. Without TLS, so that names can be read.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    /// From now on nothing more is forwarded for connections of this `application_name`, in either direction.
    pub fn hold(&self, name: &str) {
        let mut state = self.shared.state.lock().unwrap();
        state.waiting.remove(name);
        state.held.insert(name.to_owned());
    }

    /// Waits until a held connection has had something to forward.
    pub fn until_waiting(&self, name: &str) {
        let mut state = self.shared.state.lock().unwrap();
        while !state.waiting.contains(name) {
            state = self.shared.moved.wait(state).unwrap();
        }
    }

    /// Forwards again what was held.
    pub fn release(&self, name: &str) {
        self.shared.state.lock().unwrap().held.remove(name);
        self.shared.moved.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        state.gone = true;
        state.held.clear();
        drop(state);
        self.shared.moved.notify_all();
        // Wakes the accepting thread, which then ends.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, shared: &Shared, name: &OnceLock<String>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(bytes @ 1..) = from.read(&mut buffer) {
        if let Some(found) = application_name(&buffer[..bytes]) {
            let _ = name.set(found);
        }
        if let Some(name) = name.get() {
            let mut state = shared.state.lock().unwrap();
            while state.held.contains(name) {
                state.waiting.insert(name.clone());
                shared.moved.notify_all();
                state = shared.moved.wait(state).unwrap();
            }
        }
        if to.write_all(&buffer[..bytes]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

/// The name in a start-up message.
fn application_name(bytes: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"application_name\0";
    let at = bytes.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let name = bytes[at..].split(|&byte| byte == 0).next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    name.starts_with("dyno ").then_some(name)
}
