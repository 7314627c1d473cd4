//! State of the screen, combined from the events of a campaign. Every figure equals that of the later record.

use std::collections::VecDeque;

use dyno_campaign::{CampaignBegun, CampaignEvent, HookEvent, LoadEvent, NextRun, RunEnded};
use dyno_drive::{CompletedInterval, LiveProgress};
use dyno_record::{CheckStatus, RunRecord, SweepKind};

use super::grid::{self, CampaignGrid};
use super::recent::Recent;

/// Maximum complete intervals whose throughput and p99 are drawn; with more, two become one.
const HISTORY_PARTS_MAX: usize = 400;

/// What is shown, and in which panel.
#[derive(Debug, Default)]
pub(crate) struct ScreenState {
    pub(crate) command: &'static str,
    pub(crate) campaign: Option<Campaign>,
    pub(crate) run: LiveRun,
    pub(crate) load: Option<LiveLoad>,
    pub(crate) grid: CampaignGrid,
    /// Audit findings of the last run that did not pass, worst first, and that run's name.
    pub(crate) last_audit: Option<LastAudit>,
    pub(crate) paused: bool,
    pub(crate) key_requests: KeyRequests,
    pub(crate) zoom: Option<Panel>,
    pub(crate) help: bool,
    pub(crate) messages: VecDeque<String>,
}

#[derive(Debug)]
pub(crate) struct Campaign {
    pub(crate) id: String,
    pub(crate) kind: SweepKind,
    pub(crate) skips: bool,
    /// The current run: its number, the total, and its settings.
    pub(crate) number: u32,
    pub(crate) total_runs: Option<u32>,
    pub(crate) description: String,
    /// Duration of the runs after it, s.
    pub(crate) rest_s: Option<f64>,
}

/// What a user requested with keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyRequests {
    pub(crate) stop: bool,
    pub(crate) pause: bool,
    pub(crate) skip: bool,
}

#[derive(Debug, Default)]
pub(crate) struct LiveRun {
    pub(crate) id: String,
    pub(crate) targets: String,
    pub(crate) phase: ScreenPhase,
    /// Start of the phase, s since the screen began.
    pub(crate) since_s: f64,
    /// The last progress of the window, and its time.
    pub(crate) live: Option<(LiveProgress, f64)>,
    pub(crate) complete: Option<Box<CompletedInterval>>,
    pub(crate) recent: Recent,
    pub(crate) history: ThroughputHistory,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum ScreenPhase {
    #[default]
    None,
    /// An activity before or after the run.
    Activity(String),
    Connecting(u32, u32),
    Warmup(f64),
    Window,
    Draining,
}

/// Throughput and p99 of complete intervals, in bounded memory.
#[derive(Debug)]
pub(crate) struct ThroughputHistory {
    /// Operations, seconds, and the largest p99.
    pub(crate) parts: Vec<(u64, f64, f64)>,
    intervals_per_part: usize,
    intervals_in_last: usize,
}

impl Default for ThroughputHistory {
    fn default() -> Self {
        Self { parts: Vec::new(), intervals_per_part: 1, intervals_in_last: 0 }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LiveLoad {
    pub(crate) phase: String,
    pub(crate) rows: u64,
    pub(crate) total_rows: u64,
    pub(crate) bytes: u64,
    pub(crate) since_s: f64,
}

/// Audit of the previous run.
#[derive(Debug)]
pub(crate) struct LastAudit {
    pub(crate) run: String,
    pub(crate) passed: usize,
    /// Whether it fails the run, the check, and its finding.
    pub(crate) doubts: Vec<(bool, String, String)>,
}

/// A panel that can be shown alone.
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

impl ThroughputHistory {
    fn add(&mut self, ops: u64, seconds: f64, p99_us: f64) {
        match self.parts.last_mut().filter(|_| self.intervals_in_last > 0) {
            Some(last) => *last = (last.0 + ops, last.1 + seconds, last.2.max(p99_us)),
            None => self.parts.push((ops, seconds, p99_us)),
        }
        self.intervals_in_last = (self.intervals_in_last + 1) % self.intervals_per_part;
        if self.parts.len() >= HISTORY_PARTS_MAX && self.intervals_in_last == 0 {
            let pairs = self.parts.chunks(2);
            let merge_pair = |pair: &[(u64, f64, f64)]| {
                pair.iter().fold((0, 0.0, 0.0), |sum: (u64, f64, f64), one| {
                    (sum.0 + one.0, sum.1 + one.1, sum.2.max(one.2))
                })
            };
            self.parts = pairs.map(merge_pair).collect();
            self.intervals_per_part *= 2;
        }
    }
}

impl ScreenState {
    pub(crate) fn new(command: &'static str) -> Self {
        Self { command, ..Self::default() }
    }

    /// An event that arrived `now_s` after the screen began.
    pub(crate) fn apply_event(&mut self, event: &CampaignEvent, now_s: f64) {
        match event {
            CampaignEvent::Begun(begun) => self.begin_campaign(begun),
            CampaignEvent::Next(next) => self.next(next, now_s),
            CampaignEvent::Ended(ended) => self.end_run(ended, now_s),
            CampaignEvent::Paused(paused) => self.paused = *paused,
            CampaignEvent::Load(event) => self.load(event, now_s),
            CampaignEvent::RunBegun { id, targets, .. } => {
                let phase = ScreenPhase::Activity("preparing".to_owned());
                (self.load, self.last_audit) = (None, self.last_audit.take());
                self.run = LiveRun {
                    id: id.clone(),
                    targets: targets.clone(),
                    phase,
                    since_s: now_s,
                    ..LiveRun::default()
                };
            }
            CampaignEvent::Phase(event) => self.phase(event, now_s),
            CampaignEvent::Stored(record) => self.stored(record),
            other => {
                if let Some(words) = activity_words(other) {
                    self.set_activity(words, now_s);
                }
            }
        }
    }

    fn set_activity(&mut self, words: impl Into<String>, now_s: f64) {
        (self.run.phase, self.run.since_s) = (ScreenPhase::Activity(words.into()), now_s);
    }

    fn begin_campaign(&mut self, campaign: &CampaignBegun) {
        self.grid = CampaignGrid::new(campaign);
        self.campaign = Some(Campaign {
            id: campaign.id.clone(),
            kind: campaign.kind,
            skips: campaign.skips,
            number: 0,
            total_runs: None,
            description: String::new(),
            rest_s: None,
        });
    }

    fn next(&mut self, next: &NextRun, now_s: f64) {
        self.grid.next(next);
        self.key_requests.skip = false;
        if let Some(campaign) = &mut self.campaign {
            (campaign.number, campaign.total_runs, campaign.rest_s) = (next.number, next.total, next.rest_s);
            campaign.description = grid::describe_part(&next.part);
        }
        self.set_activity("preparing", now_s);
    }

    fn end_run(&mut self, finished_run: &RunEnded, now_s: f64) {
        self.grid.end_run(finished_run);
        self.key_requests.skip = false;
        self.set_activity(if finished_run.skipped { "skipped" } else { "between runs" }, now_s);
    }

    fn load(&mut self, event: &LoadEvent, now_s: f64) {
        match event {
            LoadEvent::Phase(phase, total_rows) => {
                self.load = Some(LiveLoad {
                    phase: phase.clone(),
                    rows: 0,
                    total_rows: *total_rows,
                    bytes: 0,
                    since_s: now_s,
                });
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

    fn phase(&mut self, event: &dyno_drive::RunEvent, now_s: f64) {
        let run = &mut self.run;
        let phase = match event {
            dyno_drive::RunEvent::Awaiting { there, of } => {
                ScreenPhase::Activity(format!("waiting for driver hosts: {there} of {of}"))
            }
            dyno_drive::RunEvent::Connecting { ready, of } => ScreenPhase::Connecting(*ready, *of),
            dyno_drive::RunEvent::Warmup { seconds } => ScreenPhase::Warmup(*seconds),
            dyno_drive::RunEvent::Window { .. } => ScreenPhase::Window,
            dyno_drive::RunEvent::Draining => ScreenPhase::Draining,
            dyno_drive::RunEvent::Interval(live) => {
                run.live = Some((*live, now_s));
                return;
            }
            dyno_drive::RunEvent::Complete(complete) => {
                let point = &complete.point;
                run.recent.add(point, &complete.latency);
                run.history.add(point.ops, point.seconds, point.p99_us.unwrap_or(0.0));
                run.complete = Some(complete.clone());
                return;
            }
            dyno_drive::RunEvent::Closing { .. } | dyno_drive::RunEvent::Whole(_) => return,
            dyno_drive::RunEvent::Final(_) | dyno_drive::RunEvent::Late(_) => return,
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
            .map(|check| {
                (
                    check.status == CheckStatus::Fail,
                    dyno_analyze::check_label(&check.check),
                    check.detail.clone(),
                )
            })
            .collect();
        self.last_audit = Some(LastAudit { run: record.id.clone(), passed, doubts });
    }

    /// Remaining time of the window; `None` if unknown.
    pub(crate) fn window_left_s(&self, now_s: f64) -> Option<f64> {
        let (live, told_s) = self.run.live.as_ref()?;
        let since_s = (now_s - told_s).max(0.0);
        match live.total_s {
            Some(total_s) => Some((total_s - live.elapsed_s - since_s).max(0.0)),
            // A run by operations has no length; the completed share gives the remaining time.
            None if live.done > 0.0 => {
                Some((live.elapsed_s / live.done * (1.0 - live.done) - since_s).max(0.0))
            }
            None => None,
        }
    }

    /// The completed share of the window.
    pub(crate) fn window_share(&self, now_s: f64) -> Option<f64> {
        let (live, told_s) = self.run.live.as_ref()?;
        let share = match live.total_s {
            Some(total_s) => (live.elapsed_s + (now_s - told_s).max(0.0)) / total_s,
            None => live.done,
        };
        Some(share.clamp(0.0, 1.0))
    }

    /// Whether the campaign has more than one run.
    pub(crate) fn is_several(&self) -> bool {
        self.campaign.as_ref().is_some_and(|campaign| campaign.kind != SweepKind::Soak)
    }

    pub(crate) fn skips(&self) -> bool {
        self.campaign.as_ref().is_some_and(|campaign| campaign.skips)
    }

    /// Shows the next panel alone, or all panels again.
    pub(crate) fn zoom_on(&mut self) {
        let next = match self.zoom {
            None => 0,
            Some(panel) => Panel::ALL.iter().position(|one| *one == panel).unwrap_or(0) + 1,
        };
        self.zoom = Panel::ALL.get(next).copied().filter(|panel| *panel != Panel::Runs || self.is_several());
    }
}

/// Activity outside a run's own phases.
fn activity_words(event: &CampaignEvent) -> Option<String> {
    Some(match event {
        CampaignEvent::LookingAtData => "inspecting the data".to_owned(),
        CampaignEvent::WaitingForData => "waiting until all targets see the data".to_owned(),
        CampaignEvent::DroppingData => "dropping data of another block size".to_owned(),
        CampaignEvent::Learning => "measuring the cost of each transaction on one session".to_owned(),
        CampaignEvent::AskingInvariants => "checking the invariants".to_owned(),
        CampaignEvent::Hook(HookEvent::Started(name, _)) => format!("the plan's command {name} runs"),
        CampaignEvent::RunOver => "auditing and storing".to_owned(),
        CampaignEvent::Tidying => "stored; removing the rows that it inserted".to_owned(),
        _ => return None,
    })
}
