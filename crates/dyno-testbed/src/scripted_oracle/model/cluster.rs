//! The instances of a model of a cluster (RAC): which one serves a session, and the list of all. All work
//! counts on the first.

use super::answers::{int, rows, text};
use super::database::ModelDatabase;
use super::facts::STARTED;
use crate::ScriptedAnswer;

/// The instance of a model without a cluster.
const ONLY: &str = "orcl1";

impl ModelDatabase {
    /// The instance that serves a session. Sessions log on to the listed instances in turn.
    pub(super) fn instance_of(&self, session: u64) -> &'static str {
        match self.instances.len() as u64 {
            0 => ONLY,
            count => self.instances[(session % count) as usize],
        }
    }

    /// Answers a query on instances; absent for any other statement.
    pub(super) fn list_instances(&self, session: u64, words: &str) -> Option<ScriptedAnswer> {
        let mut names = self.instances.clone();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            names.push(ONLY);
        }
        let numbered = names.into_iter().zip(1..);
        let row = |(name, number): (&'static str, u64)| {
            vec![int(number), text(name), text("model"), text(STARTED), text("OPEN")]
        };
        let listed = match words {
            _ if words.contains("FROM gv$instance") => numbered.map(row).collect(),
            _ if words.contains("FROM v$instance") => {
                numbered.filter(|(name, _)| *name == self.instance_of(session)).map(row).collect()
            }
            _ => return None,
        };
        Some(rows(&["number", "INSTANCE_NAME", "HOST_NAME", "STARTED", "STATUS"], listed))
    }
}
