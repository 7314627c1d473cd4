//! Fetches what agents keep of runs whose leader was lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use dyno_drive::{Results, Shape};
use dyno_plan::Plan;
use dyno_record::{Fleet, FleetHost};
use dyno_workload::own::SentFolders;

use crate::coding::{read, read_with, written};
use crate::error::FleetError;
use crate::hand_in;
use crate::kept::Kept;
use crate::limits::{HANDED_BYTES_MAX, HOSTS_MAX, PIECE_BYTES, PROTOCOL};
use crate::messages::{Answer, Ask, Call, Hello, KeptRun, Known, Leader, Order};
use crate::share::shares;
use crate::subjects::{Subjects, is_name, plain};
use crate::wire::{Access, Wire};

/// How long agents may take to say that they are there.
const CALL_FOR: Duration = Duration::from_secs(2);
/// How long one may take for a piece.
const PIECE_MAX: Duration = Duration::from_secs(20);

/// Who has it.
enum Holder {
    /// An agent that hears on this subject.
    Agent(String),
    /// A folder of this host.
    Folder(Kept),
}

/// What is kept somewhere of one run.
struct Part {
    holder: Holder,
    name: String,
    order: Order,
    packed: Vec<u8>,
    /// The checksum of all that is kept there.
    sum: String,
}

/// A run of which agents keep what they measured.
pub struct CollectedRun {
    parts: Vec<Part>,
}

/// What was fetched.
pub struct Collection {
    /// Runs, by their names.
    pub runs: BTreeMap<String, CollectedRun>,
    /// What could not be fetched; it stays where it is.
    pub problems: Vec<FleetError>,
}

/// Where runs are fetched from.
pub struct Collector {
    wire: Option<(Wire, Subjects)>,
    group: String,
}

impl Collector {
    /// From the agents of a group.
    ///
    /// # Errors
    /// The meeting point cannot be used.
    pub fn of_group(access: &Access, group: &str) -> Result<Self, FleetError> {
        let subjects =
            Subjects::of(group).map_err(|problem| FleetError::Usage { problem, hint: String::new() })?;
        Ok(Self { wire: Some((Wire::reach(access)?, subjects)), group: group.to_owned() })
    }

    /// From folders of this host alone.
    pub fn of_folders(group: &str) -> Self {
        Self { wire: None, group: group.to_owned() }
    }

    /// All runs that agents of the group, and these folders, keep, and what of them could not be fetched.
    ///
    /// # Errors
    /// A folder cannot be opened, or an agent is of another version.
    pub fn fetch(&self, version: &str, folders: &[&Path]) -> Result<Collection, FleetError> {
        let (mut parts, mut problems) = (Vec::new(), Vec::new());
        if let Some((wire, subjects)) = &self.wire {
            self.of_agents(wire, subjects, version, (&mut parts, &mut problems))?;
        }
        for folder in folders {
            let kept = Kept::open(folder)?;
            for run in kept.all() {
                let failed = |source| FleetError::Kept {
                    what: format!("run {} in {}", run.run_id, folder.display()),
                    source,
                };
                // One that is damaged keeps none of the others here.
                let read = kept.read(&run.run_id).map_err(failed).and_then(|bytes| {
                    let read = taken(&bytes).map_err(|why| failed(std::io::Error::other(why)))?;
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
                let sum = crate::pieces::sum(&bytes);
                parts.push(Part { holder: Holder::Folder(kept.clone()), name, order, packed, sum });
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
        (parts, problems): (&mut Vec<Part>, &mut Vec<FleetError>),
    ) -> Result<(), FleetError> {
        let leader =
            Leader { id: format!("collect-{:x}", crate::random()), words: "dyno collect".to_owned() };
        let call = Call { protocol: PROTOCOL, version: version.to_owned(), leader };
        for bytes in wire.ask_all(&subjects.all(), written(&call), CALL_FOR).iter().take(HOSTS_MAX) {
            let Ok(hello) = read::<Hello>(bytes) else { continue };
            if hello.keeps == 0 || !is_name(&hello.id) {
                continue;
            }
            let (name, subject) = (plain(&hello.name), subjects.agent(&hello.id));
            if hello.protocol != PROTOCOL || hello.version != version {
                return Err(FleetError::Agents {
                    problem: format!(
                        "the agent {name} keeps runs of dyno {}, and this is dyno {version}",
                        plain(&hello.version)
                    ),
                    hint: "collect with the version that measured them".to_owned(),
                });
            }
            let kept = wire.ask(&subject, written(&Ask::Kept), PIECE_MAX);
            let Some(Ok(Answer::Kept(runs))) = kept.map(|bytes| read(&bytes)) else { continue };
            for run in runs {
                let read = pieces(wire, &subject, &run).and_then(|bytes| Ok((taken(&bytes)?, bytes)));
                let ((order, packed), bytes) = match read {
                    Ok(read) => read,
                    Err(why) => {
                        problems.push(lost(&name, &run, &why));
                        continue;
                    }
                };
                parts.push(Part {
                    holder: Holder::Agent(subject.clone()),
                    name: name.clone(),
                    order,
                    packed,
                    sum: crate::pieces::sum(&bytes),
                });
            }
        }
        Ok(())
    }

    /// The record of a run is safe: nobody keeps it any more.
    pub fn forget(&self, run: &CollectedRun) {
        for part in &run.parts {
            match (&part.holder, &self.wire) {
                (Holder::Agent(subject), Some((wire, _))) => {
                    wire.publish(
                        subject,
                        written(&Ask::Forget { run_id: part.order.run_id.clone(), sum: part.sum.clone() }),
                    );
                }
                (Holder::Folder(kept), _) => kept.forget(&part.order.run_id),
                (Holder::Agent(_), None) => {}
            }
        }
    }
}

impl CollectedRun {
    fn order(&self) -> &Order {
        &self.parts[0].order
    }

    /// What it was to do.
    pub fn plan(&self) -> &Plan {
        &self.order().plan
    }

    /// When it began, RFC 3339 in UTC.
    pub fn started_at(&self) -> &str {
        &self.order().started_at
    }

    /// The number that is part of its update values.
    pub fn run_stamp(&self) -> u64 {
        self.order().run_stamp
    }

    /// The folders of its workloads.
    pub fn folders(&self) -> &SentFolders {
        &self.order().folders.0
    }

    /// What its leader knew of its targets.
    pub fn known(&self) -> &[Known] {
        &self.order().targets
    }

    /// Hosts of which there is something, and how many there were.
    pub fn hosts(&self) -> (usize, usize) {
        (self.parts.len(), self.order().weights.len())
    }

    /// What was measured, merged, by whom, and when the last of them ended (RFC 3339 in UTC, where that is known).
    pub fn merged(&self, collector: &Collector, shape: &Shape) -> (Results, Fleet, Option<String>) {
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
                None => host.lost = Some("what it measured was found nowhere".to_owned()),
                Some(part) => {
                    host.name.clone_from(&part.name);
                    match hand_in::unpacked(&part.packed, shape, numbers.len()) {
                        Ok(mut handed) => {
                            ended_at = ended_at.max(handed.ended_at.take());
                            (host.threads, host.ops) = (handed.threads, handed.results.operations(shape));
                            handed.use_of_host.enter(&mut host);
                            // No clock of another host is known any more: each begins with its own first operation.
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

fn lost(name: &str, run: &KeptRun, why: &str) -> FleetError {
    FleetError::Agents {
        problem: format!("run {} cannot be fetched from {name}: {}", plain(&run.run_id), plain(why)),
        hint: "it stays where it is; try again, or copy the folder of --keep and give it with --from"
            .to_owned(),
    }
}

/// All of what an agent keeps of a run, piece by piece.
fn pieces(wire: &Wire, subject: &str, run: &KeptRun) -> Result<Vec<u8>, String> {
    let most = (8 * HANDED_BYTES_MAX).div_ceil(PIECE_BYTES) as u32;
    let mut all = Vec::new();
    let mut number = 0;
    loop {
        let ask = written(&Ask::Piece { run_id: run.run_id.clone(), number });
        let bytes = wire.ask(subject, ask, PIECE_MAX).ok_or("no answer")?;
        let (answer, piece) = read_with::<Answer>(&bytes)?;
        let of = match answer {
            Answer::Piece { of } if (1..=most).contains(&of) => of,
            Answer::Refused(why) => return Err(why),
            _ => return Err("an answer that is not understood".to_owned()),
        };
        all.extend_from_slice(piece);
        number += 1;
        if number >= of {
            return Ok(all);
        }
    }
}

/// The order and what was packed behind it.
fn taken(bytes: &[u8]) -> Result<(Order, Vec<u8>), String> {
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or("no order stands before it")?;
    let order: Order = serde_json::from_slice(&bytes[..end]).map_err(|error| error.to_string())?;
    crate::order_check::check(&order)?;
    Ok((order, bytes[end + 1..].to_vec()))
}
