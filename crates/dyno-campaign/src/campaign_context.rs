//! The context that the caller of a campaign provides: engines, repository, labels, consent and listener.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyno_drive::WorkerPoolFactory;
use dyno_engine::{Cancel, EngineRegistry};
use dyno_host::remote::Agents;
use dyno_record::Repository;
use serde::{Deserialize, Serialize};

use crate::campaign_control::CampaignControl;
use crate::error::Error;
use crate::event::{CampaignEvent, Listener};

/// The context of every command; a terminal, a page or a test provides it.
pub struct CampaignContext<'a> {
    /// The engines that targets may use.
    pub engines: EngineRegistry,
    /// The file that stores all runs; absent for the default in the user's data directory.
    pub repository: Option<PathBuf>,
    /// Labels by which the runs can be found.
    pub marks: RunLabels,
    /// Which commands of plans may run without asking.
    pub consent: Consent,
    /// Cancels the campaign; measured runs are kept.
    pub cancel: Cancel,
    /// Pauses a campaign, or skips a point.
    pub steer: CampaignControl,
    /// Runs sessions on other hosts; absent if this process runs them.
    pub fleet: Option<Arc<dyn WorkerPoolFactory>>,
    /// Finds agents on observed machines; absent if this program supports none.
    pub agents: Option<Arc<dyn Agents>>,
    pub listener: &'a dyn Listener,
}

/// Labels by which runs can be found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLabels {
    /// The variant of the platform that is measured.
    pub variant: Option<String>,
    /// Further labels, in addition to the variant.
    pub tag: Vec<String>,
    /// Words of the command line for commands that repeat the run, as in
    /// [`RunRecord::options`](dyno_record::RunRecord::options).
    #[serde(default)]
    pub options: Vec<String>,
}

/// What is allowed without asking: commands of plans, and changes to data that Dyno did not create.
#[derive(Debug, Clone, Default)]
pub struct Consent {
    /// Names of commands that the user gave on the command line, such as `pre`.
    pub own: Vec<String>,
    /// Whether all commands are allowed, from now on.
    pub all: bool,
    /// Whether workloads may change data that Dyno did not create.
    pub writes: bool,
}

impl CampaignContext<'_> {
    /// A context for work that must also be done after a cancellation: nothing cancels it.
    pub(crate) fn without_cancel(&self) -> CampaignContext<'_> {
        CampaignContext {
            engines: self.engines,
            repository: self.repository.clone(),
            marks: self.marks.clone(),
            consent: self.consent.clone(),
            cancel: Cancel::default(),
            steer: self.steer.clone(),
            fleet: self.fleet.clone(),
            agents: self.agents.clone(),
            listener: self.listener,
        }
    }

    pub(crate) fn emit(&self, event: CampaignEvent) {
        self.listener.event(event);
    }

    /// Opens the repository, and creates it if it is missing.
    pub(crate) fn repository(&self) -> Result<Repository, Error> {
        Ok(Repository::open(&repository_path(self.repository.as_deref())?)?)
    }
}

/// Returns the repository's file: the named one, or the default in the user's data directory.
///
/// # Errors
/// No file is named, and there is no data directory.
pub fn repository_path(named: Option<&Path>) -> Result<PathBuf, Error> {
    let path = named.map(Path::to_path_buf).or_else(dyno_record::repository::default_path);
    path.ok_or_else(|| {
        Error::usage(
            "the user's data directory is not known (neither XDG_DATA_HOME nor HOME is set)",
            "give --repository FILE",
        )
    })
}
