//! Fetches the results that agents kept of runs whose controller was lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use dyno_drive::{ResultShape, Results};
use dyno_plan::Plan;
use dyno_record::{Fleet, FleetHost};
use dyno_workload::custom::SentFolders;

use crate::coding::{decode, decode_with_payload, encode};
use crate::error::FleetError;
use crate::limits::{HANDED_BYTES_MAX, HOSTS_MAX, PIECE_BYTES, PROTOCOL};
use crate::messages::{
    AgentCall, AgentHello, AgentOrder, AgentReply, AgentRequest, FleetTarget, KeptRun, Leader,
};
use crate::result_packing;
use crate::run_store::KeptRunStore;
use crate::share::shares;
use crate::subjects::{Subjects, is_name, plain};
use crate::wire::{Access, Wire};

/// How long agents may take to answer a call.
const CALL_FOR: Duration = Duration::from_secs(2);
/// How long an agent may take to send one piece.
const PIECE_MAX: Duration = Duration::from_secs(20);

/// Where kept results are stored.
enum PartHolder {
    /// An agent that receives requests on this subject.
    Agent(String),
    /// A folder on this host.
    Folder(KeptRunStore),
}

/// The results of one run that one agent kept.
struct CollectedPart {
    holder: PartHolder,
    name: String,
    order: AgentOrder,
    packed: Vec<u8>,
    /// Checksum of all bytes kept there.
    sum: String,
}

/// A run of which agents kept results.
pub struct CollectedRun {
    parts: Vec<CollectedPart>,
}

/// The runs found, and what could not be fetched.
pub struct Collection {
    /// Runs by name.
    pub runs: BTreeMap<String, CollectedRun>,
    /// Errors of results that could not be fetched; these stay where they are.
    pub problems: Vec<FleetError>,
}

/// Fetches kept runs from agents and folders.
pub struct FleetCollector {
    wire: Option<(Wire, Subjects)>,
    group: String,
}

impl FleetCollector {
    /// Fetches from the agents of a group.
    ///
    /// # Errors
    /// The NATS server cannot be used.
    pub fn of_group(access: &Access, group: &str) -> Result<Self, FleetError> {
        let subjects =
            Subjects::of(group).map_err(|problem| FleetError::Usage { problem, hint: String::new() })?;
        Ok(Self { wire: Some((Wire::reach(access)?, subjects)), group: group.to_owned() })
    }

    /// Fetches from folders of this host only.
    pub fn of_folders(group: &str) -> Self {
        Self { wire: None, group: group.to_owned() }
    }

    /// Fetches all runs that the group's agents and these folders keep.
    ///
    /// # Errors
    /// A folder cannot be opened, or an agent has another version.
    pub fn fetch(&self, version: &str, folders: &[&Path]) -> Result<Collection, FleetError> {
        let (mut parts, mut problems) = (Vec::new(), Vec::new());
        if let Some((wire, subjects)) = &self.wire {
            self.of_agents(wire, subjects, version, (&mut parts, &mut problems))?;
        }
        for folder in folders {
            let store = KeptRunStore::open(folder)?;
            for run in store.all() {
                let failed = |source| FleetError::Kept {
                    what: format!("run {} in {}", run.run_id, folder.display()),
                    source,
                };
                // A damaged run does not prevent the others from being fetched.
                let read = store.read(&run.run_id).map_err(failed).and_then(|bytes| {
                    let read = decode_part(&bytes).map_err(|why| failed(std::io::Error::other(why)))?;
                    Ok((bytes, read))
                });
                let (bytes, (order, packed)) = match read {
                    Ok(read) => read,
                    Err(error) => {
                        problems.push(error);
                        continue;
                    }
                };
                let name = folder.display().to_string();
                let sum = crate::pieces::checksum(&bytes);
                parts.push(CollectedPart {
                    holder: PartHolder::Folder(store.clone()),
                    name,
                    order,
                    packed,
                    sum,
                });
            }
        }
        let mut runs: BTreeMap<String, CollectedRun> = BTreeMap::new();
        for part in parts {
            let run = runs.entry(part.order.run_id.clone());
            run.or_insert_with(|| CollectedRun { parts: Vec::new() }).parts.push(part);
        }
        Ok(Collection { runs, problems })
    }

    fn of_agents(
        &self,
        wire: &Wire,
        subjects: &Subjects,
        version: &str,
        (parts, problems): (&mut Vec<CollectedPart>, &mut Vec<FleetError>),
    ) -> Result<(), FleetError> {
        let leader =
            Leader { id: format!("collect-{:x}", crate::random()), words: "dyno collect".to_owned() };
        let call = AgentCall { protocol: PROTOCOL, version: version.to_owned(), leader };
        for bytes in wire.ask_all(&subjects.all(), encode(&call), CALL_FOR).iter().take(HOSTS_MAX) {
            let Ok(hello) = decode::<AgentHello>(bytes) else { continue };
            if hello.keeps == 0 || !is_name(&hello.id) {
                continue;
            }
            let (name, subject) = (plain(&hello.name), subjects.agent(&hello.id));
            if hello.protocol != PROTOCOL || hello.version != version {
                return Err(FleetError::Agents {
                    problem: format!(
                        "the agent {name} stores runs of dyno {}, but this is dyno {version}",
                        plain(&hello.version)
                    ),
                    hint: "collect with the version that measured them".to_owned(),
                });
            }
            let reply = wire.ask(&subject, encode(&AgentRequest::Kept), PIECE_MAX);
            let Some(Ok(AgentReply::Kept(runs))) = reply.map(|bytes| decode(&bytes)) else { continue };
            for run in runs {
                let read = pieces(wire, &subject, &run).and_then(|bytes| Ok((decode_part(&bytes)?, bytes)));
                let ((order, packed), bytes) = match read {
                    Ok(read) => read,
                    Err(why) => {
                        problems.push(part_error(&name, &run, &why));
                        continue;
                    }
                };
                parts.push(CollectedPart {
                    holder: PartHolder::Agent(subject.clone()),
                    name: name.clone(),
                    order,
                    packed,
                    sum: crate::pieces::checksum(&bytes),
                });
            }
        }
        Ok(())
    }

    /// Deletes the kept results everywhere, once the record of the run is stored.
    pub fn forget(&self, run: &CollectedRun) {
        for part in &run.parts {
            match (&part.holder, &self.wire) {
                (PartHolder::Agent(subject), Some((wire, _))) => {
                    wire.publish(
                        subject,
                        encode(&AgentRequest::Forget {
                            run_id: part.order.run_id.clone(),
                            sum: part.sum.clone(),
                        }),
                    );
                }
                (PartHolder::Folder(kept), _) => kept.forget(&part.order.run_id),
                (PartHolder::Agent(_), None) => {}
            }
        }
    }
}

impl CollectedRun {
    fn order(&self) -> &AgentOrder {
        &self.parts[0].order
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Plan {
        &self.order().plan
    }

    /// When the run began, RFC 3339 in UTC.
    pub fn started_at(&self) -> &str {
        &self.order().started_at
    }

    /// The number that is part of the run's update values.
    pub fn run_stamp(&self) -> u64 {
        self.order().run_stamp
    }

    /// The folders of the run's workloads.
    pub fn folders(&self) -> &SentFolders {
        &self.order().folders.0
    }

    /// What the controller knew about the targets.
    pub fn known(&self) -> &[FleetTarget] {
        &self.order().targets
    }

    /// Number of hosts whose results were found, and of hosts in the run.
    pub fn hosts(&self) -> (usize, usize) {
        (self.parts.len(), self.order().weights.len())
    }

    /// Merges the results of all hosts; returns them with the fleet, and the last host's end (RFC 3339 in
    /// UTC, absent if unknown).
    pub fn merged(
        &self,
        collector: &FleetCollector,
        shape: &ResultShape,
    ) -> (Results, Fleet, Option<String>) {
        let order = self.order();
        let shares = shares(&order.plan, &order.weights);
        let (mut all, mut hosts, mut ended_at) = (Results::default(), Vec::new(), None);
        for (rank, numbers) in (0u32..).zip(&shares) {
            let mut host = FleetHost {
                rank,
                name: format!("host {}", rank + 1),
                weight: order.weights[rank as usize],
                sessions: numbers.len() as u32,
                ..FleetHost::default()
            };
            match self.parts.iter().find(|part| part.order.rank == rank) {
                None => host.lost = Some("its results were not found".to_owned()),
                Some(part) => {
                    host.name.clone_from(&part.name);
                    match result_packing::unpack_results(&part.packed, shape, numbers.len()) {
                        Ok(mut handed) => {
                            ended_at = ended_at.max(handed.ended_at.take());
                            (host.threads, host.ops) = (handed.threads, handed.results.operations(shape));
                            handed.use_of_host.enter(&mut host);
                            // The clock offsets are lost with the controller, so each host's times start at
                            // its own first operation.
                            if let Some((first_ns, _)) = handed.results.started_ns() {
                                handed.results.on_clock(&|at_ns| at_ns.saturating_sub(first_ns));
                            }
                            all.add(handed.results);
                        }
                        Err(why) => host.lost = Some(why),
                    }
                }
            }
            hosts.push(host);
        }
        (all, Fleet { group: collector.group.clone(), hosts }, ended_at)
    }
}

fn part_error(name: &str, run: &KeptRun, why: &str) -> FleetError {
    FleetError::Agents {
        problem: format!("run {} cannot be fetched from {name}: {}", plain(&run.run_id), plain(why)),
        hint: "the agent still stores it; try again, or copy its --keep folder and give it with --from"
            .to_owned(),
    }
}

/// Fetches all bytes that an agent keeps of a run, piece by piece.
fn pieces(wire: &Wire, subject: &str, run: &KeptRun) -> Result<Vec<u8>, String> {
    let most = (8 * HANDED_BYTES_MAX).div_ceil(PIECE_BYTES) as u32;
    let mut all = Vec::new();
    let mut number = 0;
    loop {
        let ask = encode(&AgentRequest::Piece { run_id: run.run_id.clone(), number });
        let bytes = wire.ask(subject, ask, PIECE_MAX).ok_or("no answer")?;
        let (answer, piece) = decode_with_payload::<AgentReply>(&bytes)?;
        let piece_count = match answer {
            AgentReply::Piece { of } if (1..=most).contains(&of) => of,
            AgentReply::Refused(why) => return Err(why),
            _ => return Err("an unexpected answer".to_owned()),
        };
        all.extend_from_slice(piece);
        number += 1;
        if number >= piece_count {
            return Ok(all);
        }
    }
}

/// Splits kept bytes into the order and the packed results.
fn decode_part(bytes: &[u8]) -> Result<(AgentOrder, Vec<u8>), String> {
    let end =
        bytes.iter().position(|&byte| byte == b'\n').ok_or("the order before the results is missing")?;
    let order: AgentOrder = serde_json::from_slice(&bytes[..end]).map_err(|error| error.to_string())?;
    crate::order_check::check(&order)?;
    Ok((order, bytes[end + 1..].to_vec()))
}
