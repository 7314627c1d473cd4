//! A machine that is not this one: what it is, and what it counts, in the same words as this one.
//!
//! | file | job |
//! | --- | --- |
//! | `ssh` | through OpenSSH's client: one connection, and on the far side a loop of a shell that prints the kernel's files |
//! | `exporter` | through Prometheus' node_exporter: its counters by their names |
//! | `own`, `bounded` | through an agent: what it answers for its own machine, and how much of an answer is believed |
//! | `clock` | how far its clock is from ours, and at which of our moments it was read |
//! | `reading` | a snapshot and the moments around it, which may travel as bytes |

mod bounded;
mod clock;
mod exporter;
mod own;
mod reading;
mod ssh;
mod wrong;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dyno_plan::{HostScheme, HostUrl};
use dyno_record::Host;
use serde::{Deserialize, Serialize};

pub use clock::{ClockTrack, Moment};
pub use own::Own;
pub use reading::{FarTime, Reading};
pub use wrong::{SourceError, SourceErrorKind};

/// The caller's clock, ns since a moment of its own.
pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A place that matters to a run: its name in records (`data`), and its path there.
pub type Place = (String, String);

/// What a machine is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// Its facts; parts in the run and counters are left empty.
    pub host: Host,
    /// What it does not tell, by name, and why.
    pub missing: Vec<(String, String)>,
    /// What it is known by: two machines with the same one are one machine.
    pub boot: Option<String>,
}

/// A machine that is looked at. Every call ends within the time that it is given.
pub trait Source: Send {
    /// What it is, and on which of its devices the places are; to be asked before the first [`read`](Source::read).
    ///
    /// # Errors
    /// It cannot be reached, or says nothing that can be used.
    fn describe(&mut self, places: &[Place], patience: Duration) -> Result<Described, SourceError>;

    /// Its clock, and nothing else.
    ///
    /// # Errors
    /// It cannot be reached, or does not answer in time.
    fn clock(&mut self, patience: Duration) -> Result<Reading, SourceError>;

    /// Its counters.
    ///
    /// # Errors
    /// It cannot be reached, or does not answer in time: where [`SourceError::is_final`], it never will again.
    fn read(&mut self, patience: Duration) -> Result<Reading, SourceError>;
}

/// Whoever knows agents on other machines.
pub trait Agents: Send + Sync {
    /// The machine of the agent at `url`, without waiting for it.
    ///
    /// # Errors
    /// Nothing can be known of agents.
    fn open(&self, url: &HostUrl, now: &Now) -> Result<Box<dyn Source>, SourceError>;
}

/// A machine to look at, and what is wanted for it.
#[derive(Clone)]
pub struct Way {
    /// Where it is.
    pub url: HostUrl,
    /// The password of the URL's user, where node_exporter asks for one.
    pub password: Option<String>,
    /// A file with the authorities that its certificate may be of.
    pub ca: Option<PathBuf>,
    /// Whoever knows agents.
    pub agents: Option<Arc<dyn Agents>>,
}

impl std::fmt::Debug for Way {
    /// Without its password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Way").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Opens the machine at the end of `way`, without waiting for it.
///
/// # Errors
/// It is looked at in a way that this program does not have, or the program for it is not here.
pub fn open(way: &Way, now: &Now) -> Result<Box<dyn Source>, SourceError> {
    Ok(match (way.url.scheme, &way.agents) {
        (HostScheme::Ssh, _) => Box::new(ssh::Ssh::open(&way.url, now)?),
        (HostScheme::NodeExporter | HostScheme::NodeExporterTls, _) => {
            Box::new(exporter::Exporter::new(way, now)?)
        }
        (HostScheme::Agent, Some(agents)) => agents.open(&way.url, now)?,
        (HostScheme::Agent, None) => {
            return Err(SourceError::new(
                SourceErrorKind::Unsupported,
                "this program was built without agents (feature `fleet`)",
            )
            .hint("write ssh://HOST, which needs nothing installed there, or node-exporter://HOST:9100"));
        }
    })
}

/// Whether it is this machine: it was started at the same moment, and is called the same where that is all that is known.
pub fn is_this(described: &Described) -> bool {
    let root = crate::files::Root::system();
    let Some(boot) = &described.boot else { return false };
    if boot.contains('-') {
        return root.text("proc/sys/kernel/random/boot_id").as_ref() == Some(boot);
    }
    let started =
        |text: &str| text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse::<i64>().ok();
    let here = root.text("proc/stat").as_deref().and_then(started);
    let there: Option<i64> = boot.parse().ok();
    // The moment of the boot is now less the time since then, and may come out a second beside.
    let is_same_boot = here.zip(there).is_some_and(|(here, there)| here.abs_diff(there) <= 1);
    is_same_boot && root.text("proc/sys/kernel/hostname").as_ref() == Some(&described.host.name)
}
