//! Observes another machine: its facts and its counters, in the same form as for this one.
//!
//! | file | job |
//! | --- | --- |
//! | `ssh` | through OpenSSH's client: one connection, and a shell loop on the other machine that prints the
//! kernel's files |
//! | `exporter` | through Prometheus node_exporter, whose counters have other names |
//! | `agent_host`, `bounded` | through an agent: its answer for its own machine, and the limits on such an answer |
//! | `clock` | the offset of its clock from ours, and the time of a reading on our clock |
//! | `reading` | a snapshot and the times around it, which can be serialized |

mod agent_host;
mod bounded;
mod clock;
mod error;
mod exporter;
mod reading;
mod ssh;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dyno_plan::{HostScheme, HostUrl};
use dyno_record::Host;
use serde::{Deserialize, Serialize};

pub use agent_host::LocalHost;
pub use clock::{ClockTrack, HostReadTime};
pub use error::{SourceError, SourceErrorKind};
pub use reading::{RemoteTime, TimedHostSnapshot};

/// The caller's clock, ns since a moment of its choice.
pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A place that matters to a run: its name in records (`data`), and its path on the machine.
pub type HostPlace = (String, String);

/// The description of a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostDescription {
    /// Its facts; roles and counters are left empty.
    pub host: Host,
    /// What it does not report, by name, with the reason.
    pub missing: Vec<(String, String)>,
    /// The machine's boot ID: equal IDs mean the same machine.
    pub boot: Option<String>,
}

/// A machine that is observed. Every call ends within the time that it is given.
pub trait HostSource: Send {
    /// Describes the machine and the devices of the places; call it before the first [`read`](HostSource::read).
    ///
    /// # Errors
    /// The machine cannot be reached, or its answer cannot be used.
    fn describe(&mut self, places: &[HostPlace], patience: Duration) -> Result<HostDescription, SourceError>;

    /// Reads only its clock.
    ///
    /// # Errors
    /// The machine cannot be reached, or does not answer in time.
    fn clock(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError>;

    /// Reads its counters.
    ///
    /// # Errors
    /// The machine cannot be reached, or does not answer in time. Where [`SourceError::is_final`], it never
    /// will again.
    fn read(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError>;
}

/// Gives access to machines through their agents.
pub trait Agents: Send + Sync {
    /// Opens the machine of the agent at `url`; does not wait for it.
    ///
    /// # Errors
    /// This program has no access to agents.
    fn open(&self, url: &HostUrl, now: &Now) -> Result<Box<dyn HostSource>, SourceError>;
}

/// A machine to observe, and how to reach it.
#[derive(Clone)]
pub struct HostAccess {
    pub url: HostUrl,
    /// The password of the URL's user, for node_exporter with authentication.
    pub password: Option<String>,
    /// A file with the authorities that may have signed its certificate.
    pub ca: Option<PathBuf>,
    /// Access to agents; absent where there is none.
    pub agents: Option<Arc<dyn Agents>>,
}

impl std::fmt::Debug for HostAccess {
    /// Prints everything except the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Way").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Opens the machine of `way`; does not wait for it.
///
/// # Errors
/// This program does not support the URL's kind of access, or the program for it is not installed.
pub fn open(way: &HostAccess, now: &Now) -> Result<Box<dyn HostSource>, SourceError> {
    Ok(match (way.url.scheme, &way.agents) {
        (HostScheme::Ssh, _) => Box::new(ssh::SshSource::open(&way.url, now)?),
        (HostScheme::NodeExporter | HostScheme::NodeExporterTls, _) => {
            Box::new(exporter::NodeExporterSource::new(way, now)?)
        }
        (HostScheme::Agent, Some(agents)) => agents.open(&way.url, now)?,
        (HostScheme::Agent, None) => {
            return Err(SourceError::new(
                SourceErrorKind::Unsupported,
                "this program was built without agents (feature `fleet`)",
            )
            .hint("write ssh://HOST, which requires no installation there, or node-exporter://HOST:9100"));
        }
    })
}

/// Whether it is this machine. Boot IDs decide; without them, the boot time and the host name.
pub fn is_this(described: &HostDescription) -> bool {
    let root = crate::files::Root::system();
    let Some(boot) = &described.boot else { return false };
    if boot.contains('-') {
        return root.text("proc/sys/kernel/random/boot_id").as_ref() == Some(boot);
    }
    let started =
        |text: &str| text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse::<i64>().ok();
    let local_boot_s = root.text("proc/stat").as_deref().and_then(started);
    let remote_boot_s: Option<i64> = boot.parse().ok();
    // The boot time is the present time minus the uptime, and may differ by a second.
    let is_same_boot =
        local_boot_s.zip(remote_boot_s).is_some_and(|(local_s, remote_s)| local_s.abs_diff(remote_s) <= 1);
    is_same_boot && root.text("proc/sys/kernel/hostname").as_ref() == Some(&described.host.name)
}
