//! What all requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use dyno_record::Repository;

use crate::action_log::ActionLog;
use crate::hosts::Hosts;
use crate::jobs::Jobs;
use crate::reply::Trouble;
use crate::roles::Caller;
use crate::sessions::LoginSessions;
use crate::setup::Setup;
use crate::store::Store;
use crate::users::Users;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) setup: Setup,
    /// Where it listens, with the port that it got.
    pub(crate) address: SocketAddr,
    pub(crate) hosts: Hosts,
    pub(crate) users: Users,
    pub(crate) sessions: LoginSessions,
    pub(crate) actions: ActionLog,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) store: Store,
    /// The file that only one server at a time may lock; absent where the state cannot be written.
    pub(crate) _lock: Option<std::fs::File>,
}

/// As handlers get it.
pub(crate) type Shared = axum::extract::State<Arc<State>>;

impl State {
    /// The name of the cookie: a browser sends those of all ports of a host to each of them.
    pub(crate) fn cookie_name(&self) -> String {
        format!("dyno_{}", self.address.port())
    }

    /// What the server was started with, as far as it is open to `caller`.
    pub(crate) fn setup_for(&self, caller: &Caller) -> Setup {
        let mut setup = self.setup.clone();
        setup.allow_commands &= caller.may_run_commands();
        setup
    }

    /// What `work` makes of the repository, on a thread that may wait for the disk.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Repository) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let this = Arc::clone(self);
        let _turn = self.store.turn().await?;
        let done = tokio::task::spawn_blocking(move || this.store.with(|repository| work(&this, repository)));
        done.await.map_err(|_| Trouble::ended())?
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    use dyno_plan::Engines;

    /// An engine, for what needs one to read a plan.
    pub(crate) const ENGINES: Engines = Engines(&[dyno_sqlite::ENGINE.spec]);
}
