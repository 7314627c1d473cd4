//! Front end of a campaign at a terminal: shows its events as messages, tables and progress lines, and asks
//! its questions.

use std::collections::BTreeMap;
use std::time::Instant;

use dyno_campaign::{
    CampaignBegun, CampaignControl, CampaignEvent, Error, Listener, LoadEvent, NextRun, RunEnded, RunProgress,
};
use dyno_engine::{Cancel, Secret};
use dyno_plan::{Length, TargetUrl};
use dyno_record::{PartOf, PointSetting, RecordKind, RunRecord, SweepKind};
use dyno_report::number::span_s;
use dyno_report::{Answered, RunningTable, SweepRow};
use dyno_watch::ObservationEvent;
use parking_lot::Mutex;
use serde_json::json;

use crate::console::Console;
use crate::monitoring::TelemetrySinks;
use crate::progress::{LoadProgressLine, RunLine};
use crate::screen::Screen;
use crate::{event_messages, prompt, signals};

pub(crate) struct Terminal<'a> {
    talk: &'a Console,
    sinks: TelemetrySinks,
    /// Stops the campaign: set by signals, or by a stdout that accepts no more output.
    pub(crate) cancel: Cancel,
    /// Pauses a campaign or skips a point.
    pub(crate) steer: CampaignControl,
    /// What the lines show.
    progress: Mutex<RunProgress>,
    began: Instant,
    run: Mutex<Option<RunLine<'a>>>,
    load: Mutex<Option<LoadProgressLine<'a>>>,
    /// The table that grows with each run.
    table: Mutex<Option<RunningTable>>,
    /// The command with a full screen, until it is shown; and the screen.
    command: Option<&'static str>,
    screen: Mutex<Option<Screen>>,
    /// Error of writing to stdout.
    stdout_error: Mutex<Option<anyhow::Error>>,
}

impl<'a> Terminal<'a> {
    /// The file of events that another program follows.
    pub(crate) fn events(&self) -> Option<&'a crate::events::EventLog> {
        self.talk.events.as_deref()
    }

    pub(crate) fn new(talk: &'a Console, beside: TelemetrySinks) -> Self {
        let (progress, run, load, table, screen, trouble) = Default::default();
        let (cancel, steer) = Default::default();
        Self {
            talk,
            sinks: beside,
            cancel,
            steer,
            progress,
            began: Instant::now(),
            run,
            load,
            table,
            command: None,
            screen,
            stdout_error: trouble,
        }
    }

    /// Like `new` for a command that has a full screen, if this terminal supports it.
    pub(crate) fn on_screen(talk: &'a Console, beside: TelemetrySinks, command: &'static str) -> Self {
        Self { command: Some(command).filter(|_| talk.screen), ..Self::new(talk, beside) }
    }

    /// All targets are connected: from now on a stop request ends the run cleanly, and the screen is shown.
    fn targets_reached(&self) {
        let mut screen = self.screen.lock();
        if let Some(command) = self.command
            && screen.is_none()
        {
            match Screen::start(command, self.talk, &self.cancel, &self.steer) {
                Ok(shown) => *screen = Some(shown),
                Err(error) => {
                    self.talk.say(&format!(
                        "warning: progress is shown as lines, because the full screen is not available: \
                            {error}"
                    ));
                }
            }
        }
        let watched = match &*screen {
            Some(screen) => screen.watch_signals(),
            None => signals::watch(&self.cancel),
        };
        if let Err(error) = watched {
            self.talk.say(&format!("warning: Ctrl-C ends the program at once: {error}"));
        }
    }

    /// Asks a question with the terminal released from the screen.
    fn ask_user<T>(&self, ask: impl FnOnce() -> T) -> T {
        match &*self.screen.lock() {
            Some(screen) => screen.with_terminal(ask),
            None => ask(),
        }
    }

    /// Passes an event to the screen; returns whether it is shown there instead of as lines.
    fn is_on_screen(&self, event: &CampaignEvent) -> bool {
        let screen = self.screen.lock();
        let Some(screen) = screen.as_ref().filter(|screen| screen.is_shown()) else { return false };
        screen.apply_event(event);
        match event {
            CampaignEvent::Phase(_) | CampaignEvent::RunOver | CampaignEvent::Paused(_) => true,
            CampaignEvent::Load(event) => {
                matches!(event, LoadEvent::Phase(..) | LoadEvent::Advance(..) | LoadEvent::Over)
            }
            _ => false,
        }
    }

    /// The result of a campaign, unless writing to stdout failed.
    pub(crate) fn outcome<T>(&self, outcome: Result<T, Error>) -> anyhow::Result<T> {
        // Ends the screen and prints held messages, before the result is printed.
        drop(self.screen.lock().take());
        self.sinks.finish(self.talk);
        match self.stdout_error.lock().take() {
            Some(trouble) => Err(trouble),
            None => Ok(outcome?),
        }
    }

    /// Stops the campaign if output cannot be shown any more.
    fn cancel_on_error(&self, shown: anyhow::Result<()>) {
        if let Err(error) = shown {
            self.stdout_error.lock().get_or_insert(error);
            self.cancel.cancel();
        }
    }

    fn show(&self, text: &str) {
        self.cancel_on_error(self.talk.show(text).map_err(Into::into));
    }

    fn load(&self, event: &LoadEvent) {
        let mut load = self.load.lock();
        match event {
            LoadEvent::Phase(name, rows) => {
                load.get_or_insert_with(|| LoadProgressLine::new(self.talk)).phase(name, *rows);
            }
            LoadEvent::Advance(..) => {
                let progress = self.progress.lock();
                load.iter().for_each(|load| load.show_rows(progress.rows.unwrap_or(0), progress.bytes));
            }
            LoadEvent::Over => load.take().iter().for_each(LoadProgressLine::finish),
            other => event_messages::load(other, self.talk),
        }
    }

    /// Shows events of an observed database.
    fn show_watch_event(&self, event: &ObservationEvent) {
        let mut run = self.run.lock();
        let run = run.get_or_insert_with(|| RunLine::new(self.talk));
        let (line, json) = match event {
            ObservationEvent::Interval(moment) => {
                run.show_watch_interval(moment);
                let point = moment.point.as_ref();
                let json = point.map(|point| {
                    let waits: BTreeMap<&str, f64> =
                        moment.waits.iter().map(|(name, sessions)| (name.as_str(), *sessions)).collect();
                    json!({ "at_s": point.at_s, "seconds": point.seconds, "metrics": point.metrics, "waits": waits })
                });
                (None, json)
            }
            ObservationEvent::Begun(unread) => {
                let lines: Vec<String> = unread.iter().map(|why| format!("not read: {why}")).collect();
                (Some(lines.join("\n")).filter(|lines| !lines.is_empty()), Some(json!({ "unread": unread })))
            }
            ObservationEvent::Lost(why) => (
                Some(format!("warning: the database is unreachable: {why}; Dyno retries")),
                Some(json!({ "lost": why })),
            ),
            ObservationEvent::Back(gap_s) => (
                Some(format!("the database is reachable again; {} without data", span_s(gap_s.round()))),
                Some(json!({ "back": true, "gap_s": gap_s })),
            ),
            ObservationEvent::Anew(why) => {
                (Some(format!("warning: {why}: this interval has no figures")), Some(json!({ "anew": why })))
            }
            ObservationEvent::Final(_) => (None, None),
        };
        if let Some(lines) = line {
            run.suspend(|| lines.lines().for_each(|line| self.talk.say(line)));
        }
        if let Some(json) = json {
            self.cancel_on_error(self.talk.json_line(&json));
        }
    }

    /// Shows one run's result and audit findings.
    fn stored(&self, record: &RunRecord) {
        if record.part_of.is_some() {
            return;
        }
        if record.kind == RecordKind::Watch {
            self.cancel_on_error(self.talk.json_line(&json!({
                "stored": record.id, "status": record.status, "next": dyno_analyze::after_watch(record),
            })));
            self.show(&dyno_report::watch_text(record, &self.talk.style()));
        } else {
            self.cancel_on_error(self.talk.json(&Answered::of(record)));
            self.show(&event_messages::card(record, &self.talk.style()));
        }
        self.talk.say(&format!("stored as {}; `dyno show {0}` shows the full record", record.id));
    }

    fn begin_campaign(&self, campaign: &CampaignBegun) {
        if let (SweepKind::Soak, Length::Time(time)) = (campaign.kind, campaign.plan.run.length()) {
            self.talk.say(&format!("soak for {time}: Ctrl-C ends it and stores what was measured"));
        }
        for (name, words) in &campaign.sides {
            self.talk.say(&format!("side {name}: {words}"));
        }
        if !campaign.axes.is_empty() {
            let table =
                RunningTable::new(campaign.axes.iter().map(|(axis, widest)| (axis.as_str(), *widest)));
            self.show(&table.heads(&self.talk.style()));
            *self.table.lock() = Some(table);
        }
    }

    fn begin_run(&self, next: &NextRun) {
        let NextRun { number, total: of, part, all_s, rest_s: _ } = next;
        let count = of.map_or_else(|| number.to_string(), |of| format!("{number} of {of}"));
        let time = all_s.map_or_else(String::new, |seconds| format!("  ETA {}", span_s(seconds.round())));
        let description = match part.kind {
            SweepKind::Soak => String::new(),
            SweepKind::Sweep | SweepKind::Suite | SweepKind::Study => {
                format!("{} (repeat {}){time}", settings(part), part.repeat)
            }
            SweepKind::Search => format!("{} (run {} of this load)", load(part), part.repeat),
            SweepKind::Ab => {
                format!("side {}, pair {}", part.side.as_deref().unwrap_or_default(), part.repeat)
            }
        };
        if !description.is_empty() {
            self.talk.say(&format!("run {count}: {description}"));
        }
    }

    fn end_run(&self, finished_run: &RunEnded) {
        let RunEnded { number, part, record, failed, skipped } = finished_run;
        let stopped = finished_run.is_stopped() || *skipped;
        let is_sweep = matches!(part.kind, SweepKind::Sweep | SweepKind::Suite);
        if let Some(table) = &*self.table.lock()
            && !(is_sweep && finished_run.is_stopped() && record.is_none())
        {
            let values = match &part.side {
                Some(side) => vec![side.as_str()],
                None => part.settings.iter().map(|setting| setting.value.as_str()).collect(),
            };
            let word = if *skipped { "skipped" } else { "stopped" };
            let stopped = (stopped && (!is_sweep || *skipped)).then_some(word);
            let (record, reason) = (record.as_deref(), failed.as_deref().or(stopped));
            let row = SweepRow { number: *number, values, repeat: part.repeat, record, reason };
            self.show(&table.line(&row, &self.talk.style()));
        }
        match (failed, part.kind) {
            (Some(reason), SweepKind::Sweep | SweepKind::Suite) => {
                self.talk.error(&format!("{}: {reason}", settings(part)), "");
            }
            (Some(reason), SweepKind::Soak) => self.talk.error(reason, ""),
            _ => {}
        }
    }
}

/// Settings of a point, such as `update_pct 20, sessions 4`.
fn settings(part: &PartOf) -> String {
    let setting_words = |setting: &PointSetting| event_messages::setting(&setting.key, &setting.value);
    part.settings.iter().map(setting_words).collect::<Vec<_>>().join(", ")
}

/// The load of a search: `64 sessions`, `5,000 ops/s`.
fn load(part: &PartOf) -> String {
    let sessions = part.settings.first().and_then(|setting| setting.value.parse::<u32>().ok());
    match sessions {
        Some(sessions) => dyno_report::number::sessions(sessions.into()),
        None => format!("{} ops/s", dyno_report::number::count(part.point.into())),
    }
}

impl Listener for Terminal<'_> {
    fn event(&self, event: CampaignEvent) {
        self.sinks.forward(&event);
        self.progress.lock().hear(&event, self.began.elapsed().as_secs_f64());
        if self.is_on_screen(&event) {
            return;
        }
        match &event {
            CampaignEvent::Reached => self.targets_reached(),
            CampaignEvent::Load(event) => self.load(event),
            CampaignEvent::Phase(event) => {
                let mut run = self.run.lock();
                let line = run.get_or_insert_with(|| RunLine::new(self.talk));
                line.show_event(event, &self.progress.lock());
            }
            CampaignEvent::Seen(seen) => self.show_watch_event(seen),
            CampaignEvent::RunOver => self.run.lock().take().iter().for_each(RunLine::finish),
            CampaignEvent::Stored(record) => self.stored(record),
            CampaignEvent::Begun(begun) => self.begin_campaign(begun),
            CampaignEvent::Next(next) => self.begin_run(next),
            CampaignEvent::Ended(ended) => self.end_run(ended),
            other => event_messages::event(other, self.talk),
        }
    }

    fn password(&self, url: &TargetUrl) -> Result<Option<Secret>, Error> {
        if !prompt::can_ask() {
            return Ok(None);
        }
        self.talk.detail("the server asks for a password");
        let question = dyno_report::text::talk(&format!("password for {url}: "));
        let password = self.ask_user(|| rpassword::prompt_password(question));
        let password = password.map_err(|error| Error::because("the password could not be read", error))?;
        Ok(Some(Secret::new(password)))
    }

    /// Without a terminal, consent is refused.
    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error> {
        if !prompt::can_ask() {
            return Ok(false);
        }
        let lines: Vec<String> =
            commands.iter().map(|(name, command)| event_messages::planned_command(name, command)).collect();
        let answer = self.ask_user(|| prompt::confirm(&lines, "run these commands?"));
        answer.map_err(|error| Error::because("the confirmation could not be read", error))
    }

    /// Without a terminal, consent is refused.
    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error> {
        if !prompt::can_ask() {
            return Ok(false);
        }
        let question = format!("change data of {url} that Dyno did not create?");
        let answer = self.ask_user(|| prompt::confirm(ways, &question));
        answer.map_err(|error| Error::because("the confirmation could not be read", error))
    }
}
