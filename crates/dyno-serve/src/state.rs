//! State that all requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use dyno_record::Repository;

use crate::action_log::ActionLog;
use crate::hosts::ServeHostNames;
use crate::jobs::Jobs;
use crate::reply::HttpError;
use crate::roles::Caller;
use crate::sessions::LoginSessions;
use crate::setup::Setup;
use crate::store::Store;
use crate::users::Users;

#[derive(Debug)]
pub(crate) struct ServeState {
    pub(crate) setup: Setup,
    /// The address that the server listens on, with the actual port.
    pub(crate) address: SocketAddr,
    pub(crate) hosts: ServeHostNames,
    pub(crate) users: Users,
    pub(crate) sessions: LoginSessions,
    pub(crate) actions: ActionLog,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) store: Store,
    /// A file that only one server at a time can lock; absent if the state cannot be written.
    pub(crate) _lock: Option<std::fs::File>,
}

/// The shared state as an argument of handlers.
pub(crate) type SharedServeState = axum::extract::State<Arc<ServeState>>;

impl ServeState {
    /// The name of the session cookie. It contains the port, because a browser sends the cookies of a host to
    /// all of its ports.
    pub(crate) fn cookie_name(&self) -> String {
        format!("dyno_{}", self.address.port())
    }

    /// The server's options, restricted to what `caller` may do.
    pub(crate) fn setup_for(&self, caller: &Caller) -> Setup {
        let mut setup = self.setup.clone();
        setup.allow_commands &= caller.may_run_commands();
        setup
    }

    /// Calls `work` with the repository, on a thread that may wait for the disk.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Repository) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let this = Arc::clone(self);
        let _turn = self.store.reader_permit().await?;
        let read_task = tokio::task::spawn_blocking(move || {
            this.store.with_repository(|repository| work(&this, repository))
        });
        read_task.await.map_err(|_| HttpError::task_failed())?
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    use dyno_plan::Engines;

    /// An engine for reading plans that need one.
    pub(crate) const ENGINES: Engines = Engines(&[dyno_sqlite::ENGINE.spec]);
}
