//! Starts and stops the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use dyno_record::Repository;
use dyno_record::private_file::create_folder;
use rustix::fs::OFlags;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::action_log::ActionLog;
use crate::error::ServeError;
use crate::hosts::ServeHostNames;
use crate::jobs::{Jobs, QueuePolicy};
use crate::routes;
use crate::sessions::LoginSessions;
use crate::setup::Setup;
use crate::state::ServeState;
use crate::store::Store;
use crate::tls::{self, Client, ClientListener};
use crate::token::AccessToken;
use crate::users::Users;

/// Number of threads that read the repository and create pages; further requests wait.
const READERS: usize = 4;

/// A running server, which stops with [`Self::stop`].
#[derive(Debug)]
pub struct Running {
    state: Arc<ServeState>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts to listen.
///
/// # Errors
/// The address, the state folder, the certificate or the repository cannot be used.
pub fn start(setup: Setup) -> Result<Running, ServeError> {
    let is_tls = setup.tls.is_some();
    if !setup.listen.ip().is_loopback() && !is_tls && !setup.behind_proxy {
        return Err(ServeError::Bare { address: setup.listen.to_string() });
    }
    let acceptor = setup.tls.as_ref().map(tls::acceptor).transpose()?;
    let lock = locked_state(&setup)?;
    let state_file = |name: &str| lock.is_some().then(|| setup.state.join(name));
    let token = match state_file("token") {
        Some(path) => AccessToken::of_file(&path)?,
        None => AccessToken::of_read_only_state(&setup.state.join("token"))?,
    };
    let users = Users::open(&setup.state, token)?;
    let sessions = LoginSessions::open(state_file("logins.json"));
    let actions = ActionLog::open(state_file("actions.jsonl"));
    // Created if it is missing; refused here if the file is not a repository.
    match setup.read_only {
        true => drop(Repository::open_read_only(&setup.repository)?),
        false => drop(Repository::open(&setup.repository)?),
    }
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
    let policy = QueuePolicy::of(setup.read_only, setup.allow_commands);
    let jobs = Jobs::open(setup.state.join("jobs"), setup.program.clone(), policy)?;
    let hosts = ServeHostNames::new(address, &setup.hosts, is_tls || setup.behind_proxy);
    let store = Store::new(setup.repository.clone(), READERS);
    let state =
        Arc::new(ServeState { setup, address, hosts, users, sessions, actions, jobs, store, _lock: lock });
    let routes = routes::router(Arc::clone(&state)).into_make_service_with_connect_info::<Client>();
    let (end, ended) = oneshot::channel::<()>();
    let limits = state.setup.limits;
    let serve = move || {
        runtime.block_on(async {
            let door = ClientListener::open(listener, acceptor, limits);
            tokio::select! {
                _ = axum::serve(door, routes) => {}
                _ = ended => {}
            }
        });
        // Live views would keep the runtime running forever; the jobs that they show continue.
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("serve".into()).spawn(serve)?;
    Ok(Running { state, end: Some(end), thread: Some(thread) })
}

impl Running {
    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// URL of the home page, with the owner's token.
    pub fn url(&self) -> String {
        format!("{}/?token={}", self.address_url(), self.state.users.owner().text())
    }

    /// URL of the home page without a token: `http://127.0.0.1:7878`.
    pub fn address_url(&self) -> String {
        let scheme = self.state.hosts.scheme();
        let configured_host = self.state.setup.hosts.first().filter(|_| self.state.setup.behind_proxy);
        let host = configured_host.cloned().unwrap_or_else(|| match self.state.address {
            address if address.ip().is_unspecified() => format!("127.0.0.1:{}", address.port()),
            address => address.to_string(),
        });
        format!("{scheme}://{host}")
    }

    /// The file of the owner's token; absent if the state cannot be written, so that the token is kept in
    /// memory only.
    pub fn token_file(&self) -> Option<PathBuf> {
        Some(self.state.setup.state.join("token")).filter(|_| self.state.users.owner().is_kept())
    }

    /// Whether there are named tokens, whose holders know them already.
    pub fn has_named_tokens(&self) -> bool {
        self.state.users.has_named()
    }

    /// Stops the server. Running jobs continue.
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

/// Creates the state folder, readable only by its user, and locks it against other servers. A read-only
/// server leaves a folder that it cannot write unchanged, and keeps its state in memory.
fn locked_state(setup: &Setup) -> Result<Option<std::fs::File>, ServeError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let broken =
        |error: std::io::Error| ServeError::State { path: setup.state.clone(), detail: error.to_string() };
    match create_folder(&setup.state) {
        Err(_) if setup.read_only && !setup.state.exists() => return Ok(None),
        created => created.map_err(broken)?,
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    let file = match options.open(setup.state.join("lock")) {
        Err(error) if setup.read_only && error.kind() == std::io::ErrorKind::ReadOnlyFilesystem => {
            return Ok(None);
        }
        file => file.map_err(broken)?,
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Err(ServeError::Taken { path: setup.state.clone() }),
        Err(std::fs::TryLockError::Error(error)) => Err(broken(error)),
    }
}
