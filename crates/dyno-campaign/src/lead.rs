//! Who leads a campaign.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyno_drive::Muster;
use dyno_engine::{Cancel, Registry};
use dyno_host::far::Agents;
use dyno_record::Repository;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::event::{Event, Listener};
use crate::steer::Steer;

/// What every command is given by whoever leads it: a terminal, a page or a test.
pub struct Lead<'a> {
    /// The engines that targets may be of.
    pub engines: Registry,
    /// The file that keeps all runs; nothing for the one in the user's data directory.
    pub repository: Option<PathBuf>,
    /// Names under which the runs are found again.
    pub marks: Marks,
    /// Which commands of plans may run unasked.
    pub consent: Consent,
    /// Asks the campaign to stop, and to keep what was measured.
    pub cancel: Cancel,
    /// Asks runs that belong together to rest, or to leave one out.
    pub steer: Steer,
    /// Those who do the sessions of runs, where they are on other hosts; nothing where this process does.
    pub fleet: Option<Arc<dyn Muster>>,
    /// Whoever knows agents on machines that are looked at; nothing where this program has none.
    pub agents: Option<Arc<dyn Agents>>,
    /// Hears what happens.
    pub listener: &'a dyn Listener,
}

/// Names under which runs are found again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// The variant of the platform that is measured.
    pub variant: Option<String>,
    /// Further marks.
    pub tag: Vec<String>,
}

/// What may be done unasked: which commands of plans, and whether data of others is changed.
#[derive(Debug, Clone, Default)]
pub struct Consent {
    /// Names of commands that the leader wrote anew, such as `pre`.
    pub own: Vec<String>,
    /// All of them, from now on.
    pub all: bool,
    /// Whether workloads may change data that Dyno did not make.
    pub writes: bool,
}

impl Lead<'_> {
    /// The same for what has to be done after a stop, too: nothing asks it to end.
    pub(crate) fn past_stop(&self) -> Lead<'_> {
        Lead {
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

    /// Tells what has happened.
    pub(crate) fn tell(&self, event: Event) {
        self.listener.event(event);
    }

    /// The repository, made if it is not there.
    pub(crate) fn repository(&self) -> Result<Repository, Error> {
        Ok(Repository::open(&repository_path(self.repository.as_deref())?)?)
    }
}

/// The repository's file: the one that is named, or the one in the user's data directory.
///
/// # Errors
/// None is named, and there is no such directory.
pub fn repository_path(named: Option<&Path>) -> Result<PathBuf, Error> {
    let path = named.map(Path::to_path_buf).or_else(dyno_record::repository::default_path);
    path.ok_or_else(|| {
        Error::usage(
            "the user's data directory is not known (neither XDG_DATA_HOME nor HOME is set)",
            "give --repository FILE",
        )
    })
}
