//! What the screen shows: the events of a campaign, put together. Every figure is one that the record will have.

use std::collections::VecDeque;

use dyno_campaign::{Begun, Ended, Event, HookEvent, LoadEvent, Next};
use dyno_drive::{Complete, Live};
use dyno_record::{CheckStatus, RunRecord, SweepKind};

use super::grid::{self, Grid};
use super::recent::Recent;

/// Complete intervals of which throughput and p99 are drawn at most; beyond that, two become one.
const DRAWN_MAX: usize = 400;

/// What is shown, and how.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The command: `run`, `sweep`.
    pub(crate) command: &'static str,
    pub(crate) campaign: Option<Campaign>,
    pub(crate) run: Run,
    pub(crate) load: Option<Load>,
    pub(crate) grid: Grid,
    /// What the audit of the last run found that is no pass, worst first, and that run's name.
    pub(crate) judged: Option<Judged>,
    pub(crate) paused: bool,
    pub(crate) asked: Asked,
    pub(crate) zoom: Option<Panel>,
    pub(crate) help: bool,
    /// The last lines of talk.
    pub(crate) said: VecDeque<String>,
}

/// Runs that belong together.
#[derive(Debug)]
pub(crate) struct Campaign {
    pub(crate) id: String,
    pub(crate) kind: SweepKind,
    pub(crate) skips: bool,
    /// The run under way: its number, of how many, and what sets it apart.
    pub(crate) number: u32,
    pub(crate) of: Option<u32>,
    pub(crate) what: String,
    /// How long those after it take.
    pub(crate) rest_s: Option<f64>,
}

/// What somebody at the keys asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) stop: bool,
    pub(crate) pause: bool,
    pub(crate) skip: bool,
}

/// A run under way.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) targets: String,
    pub(crate) phase: Phase,
    /// When the phase began, s since the screen did.
    pub(crate) since_s: f64,
    /// The last that was told of the window, and when.
    pub(crate) live: Option<(Live, f64)>,
    pub(crate) complete: Option<Box<Complete>>,
    pub(crate) recent: Recent,
    pub(crate) drawn: Drawn,
}

/// Where a run is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Phase {
    /// Nothing has begun.
    #[default]
    None,
    /// Something is done before or after it.
    Beside(String),
    Connecting(u32, u32),
    Warmup(f64),
    Window,
    Draining,
}

/// Throughput and p99 of complete intervals, in bounded memory.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Operations, seconds, and the largest p99.
    pub(crate) parts: Vec<(u64, f64, f64)>,
    each: usize,
    open: usize,
}

impl Default for Drawn {
    fn default() -> Self {
        Self { parts: Vec::new(), each: 1, open: 0 }
    }
}

/// A load under way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Load {
    pub(crate) phase: String,
    pub(crate) rows: u64,
    pub(crate) of: u64,
    pub(crate) bytes: u64,
    pub(crate) since_s: f64,
}

/// What the audit said of the run before.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) run: String,
    pub(crate) passed: usize,
    /// Whether it fails the run, the check, and its finding.
    pub(crate) doubts: Vec<(bool, String, String)>,
}

/// What one may look at alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Panel {
    Throughput,
    Latency,
    Waits,
    Machine,
    Audit,
    Runs,
}

impl Panel {
    pub(crate) const ALL: [Self; 6] =
        [Self::Throughput, Self::Latency, Self::Waits, Self::Machine, Self::Audit, Self::Runs];
}

impl Drawn {
    fn add(&mut self, ops: u64, seconds: f64, p99_us: f64) {
        match self.parts.last_mut().filter(|_| self.open > 0) {
            Some(last) => *last = (last.0 + ops, last.1 + seconds, last.2.max(p99_us)),
            None => self.parts.push((ops, seconds, p99_us)),
        }
        self.open = (self.open + 1) % self.each;
        if self.parts.len() >= DRAWN_MAX && self.open == 0 {
            let pairs = self.parts.chunks(2);
            let both = |pair: &[(u64, f64, f64)]| {
                pair.iter().fold((0, 0.0, 0.0), |sum: (u64, f64, f64), one| {
                    (sum.0 + one.0, sum.1 + one.1, sum.2.max(one.2))
                })
            };
            self.parts = pairs.map(both).collect();
            self.each *= 2;
        }
    }
}

impl State {
    pub(crate) fn new(command: &'static str) -> Self {
        Self { command, ..Self::default() }
    }

    /// An event that came `now_s` after the screen began.
    pub(crate) fn hear(&mut self, event: &Event, now_s: f64) {
        match event {
            Event::Begun(begun) => self.begun(begun),
            Event::Next(next) => self.next(next, now_s),
            Event::Ended(ended) => self.ended(ended, now_s),
            Event::Paused(paused) => self.paused = *paused,
            Event::Load(event) => self.load(event, now_s),
            Event::RunBegun { id, targets, .. } => {
                let phase = Phase::Beside("getting ready".to_owned());
                (self.load, self.judged) = (None, self.judged.take());
                self.run =
                    Run { id: id.clone(), targets: targets.clone(), phase, since_s: now_s, ..Run::default() };
            }
            Event::Phase(event) => self.phase(event, now_s),
            Event::Stored(record) => self.stored(record),
            other => {
                if let Some(words) = doing(other) {
                    self.beside(words, now_s);
                }
            }
        }
    }

    fn beside(&mut self, words: impl Into<String>, now_s: f64) {
        (self.run.phase, self.run.since_s) = (Phase::Beside(words.into()), now_s);
    }

    fn begun(&mut self, begun: &Begun) {
        self.grid = Grid::new(begun);
        self.campaign = Some(Campaign {
            id: begun.id.clone(),
            kind: begun.kind,
            skips: begun.skips,
            number: 0,
            of: None,
            what: String::new(),
            rest_s: None,
        });
    }

    fn next(&mut self, next: &Next, now_s: f64) {
        self.grid.next(next);
        self.asked.skip = false;
        if let Some(campaign) = &mut self.campaign {
            (campaign.number, campaign.of, campaign.rest_s) = (next.number, next.of, next.rest_s);
            campaign.what = grid::what(&next.part);
        }
        self.beside("getting ready", now_s);
    }

    fn ended(&mut self, ended: &Ended, now_s: f64) {
        self.grid.ended(ended);
        self.asked.skip = false;
        self.beside(if ended.skipped { "left out" } else { "between runs" }, now_s);
    }

    fn load(&mut self, event: &LoadEvent, now_s: f64) {
        match event {
            LoadEvent::Phase(phase, of) => {
                self.load = Some(Load { phase: phase.clone(), rows: 0, of: *of, bytes: 0, since_s: now_s });
            }
            LoadEvent::Advance(rows, bytes) => {
                if let Some(load) = &mut self.load {
                    (load.rows, load.bytes) = (load.rows + rows, load.bytes + bytes);
                }
            }
            LoadEvent::Over | LoadEvent::Done(_) | LoadEvent::SetUp(_) => self.load = None,
            LoadEvent::Target(url) => self.run.targets.clone_from(url),
            LoadEvent::Ephemeral | LoadEvent::Damaged(_) | LoadEvent::Worn(_) | LoadEvent::Retried(..) => {}
        }
    }

    fn phase(&mut self, event: &dyno_drive::Event, now_s: f64) {
        let run = &mut self.run;
        let phase = match event {
            dyno_drive::Event::Awaiting { there, of } => {
                Phase::Beside(format!("waiting for driver hosts: {there} of {of}"))
            }
            dyno_drive::Event::Connecting { ready, of } => Phase::Connecting(*ready, *of),
            dyno_drive::Event::Warmup { seconds } => Phase::Warmup(*seconds),
            dyno_drive::Event::Window { .. } => Phase::Window,
            dyno_drive::Event::Draining => Phase::Draining,
            dyno_drive::Event::Interval(live) => {
                run.live = Some((*live, now_s));
                return;
            }
            dyno_drive::Event::Complete(complete) => {
                let point = &complete.point;
                run.recent.add(point, &complete.latency);
                run.drawn.add(point.ops, point.seconds, point.p99_us.unwrap_or(0.0));
                run.complete = Some(complete.clone());
                return;
            }
            dyno_drive::Event::Closing { .. } | dyno_drive::Event::Whole(_) => return,
            dyno_drive::Event::Final(_) | dyno_drive::Event::Late(_) => return,
        };
        if std::mem::discriminant(&phase) != std::mem::discriminant(&run.phase) {
            run.since_s = now_s;
        }
        run.phase = phase;
    }

    fn stored(&mut self, record: &RunRecord) {
        let passed = record.audit.iter().filter(|check| check.status == CheckStatus::Pass).count();
        let failed = |check: &&dyno_record::AuditCheck| check.status == CheckStatus::Fail;
        let warned = |check: &&dyno_record::AuditCheck| check.status == CheckStatus::Warn;
        let worst = record.audit.iter().filter(failed).chain(record.audit.iter().filter(warned));
        let doubts = worst
            .map(|check| (check.status == CheckStatus::Fail, check.check.clone(), check.detail.clone()))
            .collect();
        self.judged = Some(Judged { run: record.id.clone(), passed, doubts });
    }

    /// How long what is left of the window takes; nothing where nobody knows yet.
    pub(crate) fn window_left_s(&self, now_s: f64) -> Option<f64> {
        let (live, told_s) = self.run.live.as_ref()?;
        let since_s = (now_s - told_s).max(0.0);
        match live.total_s {
            Some(total_s) => Some((total_s - live.elapsed_s - since_s).max(0.0)),
            // By operations there is no length; the share that is done tells how long the rest takes.
            None if live.done > 0.0 => {
                Some((live.elapsed_s / live.done * (1.0 - live.done) - since_s).max(0.0))
            }
            None => None,
        }
    }

    /// The share of the window that is over.
    pub(crate) fn done(&self, now_s: f64) -> Option<f64> {
        let (live, told_s) = self.run.live.as_ref()?;
        let done = match live.total_s {
            Some(total_s) => (live.elapsed_s + (now_s - told_s).max(0.0)) / total_s,
            None => live.done,
        };
        Some(done.clamp(0.0, 1.0))
    }

    /// Whether more than one run belongs to it.
    pub(crate) fn is_several(&self) -> bool {
        self.campaign.as_ref().is_some_and(|campaign| campaign.kind != SweepKind::Soak)
    }

    pub(crate) fn skips(&self) -> bool {
        self.campaign.as_ref().is_some_and(|campaign| campaign.skips)
    }

    /// Looks at the next panel alone, or at all again.
    pub(crate) fn zoom_on(&mut self) {
        let next = match self.zoom {
            None => 0,
            Some(panel) => Panel::ALL.iter().position(|one| *one == panel).unwrap_or(0) + 1,
        };
        self.zoom = Panel::ALL.get(next).copied().filter(|panel| *panel != Panel::Runs || self.is_several());
    }
}

/// What goes on beside a run's own phases.
fn doing(event: &Event) -> Option<String> {
    Some(match event {
        Event::LookingAtData => "looking at the data".to_owned(),
        Event::WaitingForData => "waiting until all targets see the data".to_owned(),
        Event::DroppingData => "dropping data of another block size".to_owned(),
        Event::Learning => "learning what each transaction does, on one session alone".to_owned(),
        Event::AskingInvariants => "asking what must stay true".to_owned(),
        Event::Hook(HookEvent::Started(name, _)) => format!("the plan's command {name} runs"),
        Event::RunOver => "judging and storing".to_owned(),
        Event::Tidying => "stored; removing the rows that it inserted".to_owned(),
        _ => return None,
    })
}
