//! Listening, and ending.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use dyno_record::Repository;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::error::ServeError;
use crate::hosts::Hosts;
use crate::jobs::Jobs;
use crate::routes;
use crate::setup::Setup;
use crate::state::State;
use crate::store::Store;
use crate::tls::{self, Door};
use crate::token::Token;

/// Threads that read the repository and make pages; more requests wait.
const READERS: usize = 4;

/// A server that answers.
#[derive(Debug)]
pub struct Running {
    state: Arc<State>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Begins to listen.
///
/// # Errors
/// The address, the state's directory, the certificate or the repository cannot be used.
pub fn start(setup: Setup) -> Result<Running, ServeError> {
    let is_tls = setup.tls.is_some();
    if !setup.listen.ip().is_loopback() && !is_tls && !setup.behind_proxy {
        return Err(ServeError::Bare { address: setup.listen.to_string() });
    }
    let acceptor = setup.tls.as_ref().map(tls::acceptor).transpose()?;
    let lock = taken(&setup)?;
    let token = Token::of_file(&setup.state.join("token"))?;
    // Made if it is not there, and refused here if it is no repository.
    drop(Repository::open(&setup.repository)?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(READERS + 4)
        .thread_name("serve")
        .enable_io()
        .enable_time()
        .build()?;
    let listen = |source| ServeError::Listen { address: setup.listen.to_string(), source };
    let listener = runtime.block_on(TcpListener::bind(setup.listen)).map_err(listen)?;
    let address = listener.local_addr()?;
    let jobs = Jobs::open(setup.state.join("jobs"), setup.program.clone())?;
    let hosts = Hosts::new(address, &setup.hosts, is_tls || setup.behind_proxy);
    let store = Store::new(setup.repository.clone(), READERS);
    let state = Arc::new(State { setup, address, hosts, token, jobs, store, _lock: lock });
    let routes = routes::router(Arc::clone(&state));
    let (end, ended) = oneshot::channel::<()>();
    let serve = move || {
        runtime.block_on(async {
            let door = Door::open(listener, acceptor);
            tokio::select! {
                _ = axum::serve(door, routes) => {}
                _ = ended => {}
            }
        });
        // Live views would keep it for ever; what they show goes on without it.
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("serve".into()).spawn(serve)?;
    Ok(Running { state, end: Some(end), thread: Some(thread) })
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// The address of its first page, with the token.
    pub fn url(&self) -> String {
        let scheme = self.state.hosts.scheme();
        let told = self.state.setup.hosts.first().filter(|_| self.state.setup.behind_proxy);
        let host = told.cloned().unwrap_or_else(|| match self.state.address {
            address if address.ip().is_unspecified() => format!("127.0.0.1:{}", address.port()),
            address => address.to_string(),
        });
        format!("{scheme}://{host}/?token={}", self.state.token.text())
    }

    /// Ends it. What was started here and runs goes on.
    pub fn stop(mut self) {
        self.end_now();
    }

    fn end_now(&mut self) {
        self.state.jobs.close();
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_now();
    }
}

/// Makes the state's directory, for its user alone, and keeps other servers off it.
fn taken(setup: &Setup) -> Result<std::fs::File, ServeError> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let broken = |error: std::io::Error| ServeError::file(&setup.state, &error);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&setup.state).map_err(broken)?;
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(setup.state.join("lock"));
    let file = file.map_err(broken)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(ServeError::Taken { path: setup.state.clone() }),
        Err(std::fs::TryLockError::Error(error)) => Err(broken(error)),
    }
}
