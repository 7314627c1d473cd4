//! A campaign that is led at a terminal: its events as talk, tables and moving lines; its questions.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyno_campaign::{Begun, Ended, Error, Event, Listener, LoadEvent, Next, Steer};
use dyno_drive::present::Seen;
use dyno_engine::{Cancel, Secret};
use dyno_plan::{Length, TargetUrl};
use dyno_record::{Kind, PartOf, RunRecord, Setting, SweepKind};
use dyno_report::number::span_s;
use dyno_report::{Answered, RunningTable, SweepRow};
use serde_json::json;

use crate::beside::Beside;
use crate::progress::{LoadProgress, RunProgress};
use crate::screen::Screen;
use crate::talk::Talk;
use crate::{ask, signals, words};

/// Leads a campaign.
pub(crate) struct Terminal<'a> {
    talk: &'a Talk,
    beside: Beside,
    /// Stops the campaign: signals ask it, and a stdout that takes no more.
    pub(crate) cancel: Cancel,
    /// Lets runs that belong together rest, or leaves a point out.
    pub(crate) steer: Steer,
    run: Mutex<Option<RunProgress<'a>>>,
    load: Mutex<Option<LoadProgress<'a>>>,
    /// The table that grows by each run.
    table: Mutex<Option<RunningTable>>,
    /// The command that has a full screen, until it is shown; and the screen.
    command: Option<&'static str>,
    screen: Mutex<Option<Screen>>,
    /// Why stdout takes no more.
    trouble: Mutex<Option<anyhow::Error>>,
}

impl<'a> Terminal<'a> {
    /// Where events go that another program follows.
    pub(crate) fn events(&self) -> Option<&'a crate::events::EventLog> {
        self.talk.events.as_deref()
    }

    pub(crate) fn new(talk: &'a Talk, beside: Beside) -> Self {
        let (run, load, table, screen, trouble) = Default::default();
        let (cancel, steer) = Default::default();
        Self { talk, beside, cancel, steer, run, load, table, command: None, screen, trouble }
    }

    /// The same of a command that has a full screen, if this terminal can show one.
    pub(crate) fn on_screen(talk: &'a Talk, beside: Beside, command: &'static str) -> Self {
        Self { command: Some(command).filter(|_| talk.screen), ..Self::new(talk, beside) }
    }

    /// All targets are reached: from now on what is asked to stop ends in good order, and the screen is shown.
    fn reached(&self) {
        let mut screen = locked(&self.screen);
        if let Some(command) = self.command
            && screen.is_none()
        {
            match Screen::start(command, self.talk, &self.cancel, &self.steer) {
                Ok(shown) => *screen = Some(shown),
                Err(error) => {
                    self.talk
                        .say(&format!("warning: there are lines, since no screen can be shown: {error}"));
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

    /// Asks somebody, with the whole terminal for it.
    fn asks<T>(&self, ask: impl FnOnce() -> T) -> T {
        match &*locked(&self.screen) {
            Some(screen) => screen.aside(ask),
            None => ask(),
        }
    }

    /// Lets the screen show an event; whether it does so instead of lines.
    fn is_on_screen(&self, event: &Event) -> bool {
        let screen = locked(&self.screen);
        let Some(screen) = screen.as_ref().filter(|screen| screen.is_shown()) else { return false };
        screen.hear(event);
        match event {
            Event::Phase(_) | Event::RunOver | Event::Paused(_) => true,
            Event::Load(event) => {
                matches!(event, LoadEvent::Phase(..) | LoadEvent::Advance(..) | LoadEvent::Over)
            }
            _ => false,
        }
    }

    /// What came of a campaign, unless stdout broke on the way.
    pub(crate) fn outcome<T>(&self, outcome: Result<T, Error>) -> anyhow::Result<T> {
        // With it goes what it held back, before the result is printed.
        drop(locked(&self.screen).take());
        self.beside.finish(self.talk);
        match locked(&self.trouble).take() {
            Some(trouble) => Err(trouble),
            None => Ok(outcome?),
        }
    }

    /// Where nothing can be shown any more, nothing more is done.
    fn note(&self, shown: anyhow::Result<()>) {
        if let Err(error) = shown {
            locked(&self.trouble).get_or_insert(error);
            self.cancel.cancel();
        }
    }

    fn show(&self, text: &str) {
        self.note(self.talk.show(text).map_err(Into::into));
    }

    fn load(&self, event: &LoadEvent) {
        let mut load = locked(&self.load);
        match event {
            LoadEvent::Phase(name, rows) => {
                load.get_or_insert_with(|| LoadProgress::new(self.talk)).phase(name, *rows);
            }
            LoadEvent::Advance(rows, bytes) => {
                load.iter().for_each(|load| load.advance(*rows, *bytes));
            }
            LoadEvent::Over => load.take().iter().for_each(LoadProgress::finish),
            other => words::load(other, self.talk),
        }
    }

    /// What is seen of a database that does its own work.
    fn seen(&self, seen: &Seen) {
        let mut run = locked(&self.run);
        let run = run.get_or_insert_with(|| RunProgress::new(self.talk));
        let (line, json) = match seen {
            Seen::Interval(moment) => {
                run.watched(moment);
                let point = moment.point.as_ref();
                let json = point.map(|point| {
                    let waits: BTreeMap<&str, f64> =
                        moment.waits.iter().map(|(name, sessions)| (name.as_str(), *sessions)).collect();
                    json!({ "at_s": point.at_s, "seconds": point.seconds, "metrics": point.metrics, "waits": waits })
                });
                (None, json)
            }
            Seen::Begun(unread) => {
                let lines: Vec<String> = unread.iter().map(|why| format!("not read: {why}")).collect();
                (Some(lines.join("\n")).filter(|lines| !lines.is_empty()), Some(json!({ "unread": unread })))
            }
            Seen::Lost(why) => (
                Some(format!("warning: the database is away: {why}; it is tried again")),
                Some(json!({ "lost": why })),
            ),
            Seen::Back(gap_s) => (
                Some(format!("the database is there again; of {} nothing is known", span_s(gap_s.round()))),
                Some(json!({ "back": true, "gap_s": gap_s })),
            ),
            Seen::Anew(why) => {
                (Some(format!("warning: {why}: this interval has no figures")), Some(json!({ "anew": why })))
            }
            Seen::Final(_) => (None, None),
        };
        if let Some(lines) = line {
            run.suspend(|| lines.lines().for_each(|line| self.talk.say(line)));
        }
        if let Some(json) = json {
            self.note(self.talk.json_line(&json));
        }
    }

    /// One run on its own: its result, and what the audit says of it.
    fn stored(&self, record: &RunRecord) {
        if record.part_of.is_some() {
            return;
        }
        if record.kind == Kind::Watch {
            self.note(self.talk.json_line(&json!({ "stored": record.id, "status": record.status })));
            self.show(&dyno_report::watch_text(record, &self.talk.style()));
        } else {
            self.note(self.talk.json(&Answered::of(record)));
            self.show(&words::card(record, &self.talk.style()));
        }
        self.talk.say(&format!("stored as {}; `dyno show {0}` shows all of it", record.id));
    }

    fn begun(&self, begun: &Begun) {
        if let (SweepKind::Soak, Length::Time(time)) = (begun.kind, begun.plan.run.length()) {
            self.talk.say(&format!("soaking for {time}: Ctrl-C ends it and keeps what was measured"));
        }
        for (name, words) in &begun.sides {
            self.talk.say(&format!("side {name}: {words}"));
        }
        if !begun.axes.is_empty() {
            let table = RunningTable::new(begun.axes.iter().map(|(axis, widest)| (axis.as_str(), *widest)));
            self.show(&table.heads(&self.talk.style()));
            *locked(&self.table) = Some(table);
        }
    }

    fn next(&self, next: &Next) {
        let Next { number, of, part, all_s, rest_s } = next;
        let count = of.map_or_else(|| number.to_string(), |of| format!("{number} of {of}"));
        let time = all_s.map_or_else(String::new, |seconds| format!("  ETA {}", span_s(seconds.round())));
        let what = match part.kind {
            SweepKind::Soak => String::new(),
            SweepKind::Sweep | SweepKind::Suite | SweepKind::Study => {
                format!("{} (repeat {}){time}", settings(part), part.repeat)
            }
            SweepKind::Search => format!("{} (run {} of this load)", load(part), part.repeat),
            SweepKind::Ab => {
                format!("side {}, pair {}", part.side.as_deref().unwrap_or_default(), part.repeat)
            }
        };
        if !what.is_empty() {
            self.talk.say(&format!("run {count}: {what}"));
        }
        let place = match (part.kind, of) {
            (SweepKind::Soak, _) => "soak".to_owned(),
            (_, Some(of)) => format!("{number}/{of}"),
            (_, None) => format!("run {number}"),
        };
        if !locked(&self.screen).as_ref().is_some_and(Screen::is_shown) {
            *locked(&self.run) = Some(RunProgress::among(self.talk, &place, *rest_s));
        }
    }

    fn ended(&self, ended: &Ended) {
        let Ended { number, part, record, failed, skipped } = ended;
        let stopped = ended.is_stopped() || *skipped;
        let is_sweep = matches!(part.kind, SweepKind::Sweep | SweepKind::Suite);
        if let Some(table) = &*locked(&self.table)
            && !(is_sweep && ended.is_stopped() && record.is_none())
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

/// `update_pct 20, sessions 4`.
fn settings(part: &PartOf) -> String {
    let one = |setting: &Setting| words::setting(&setting.key, &setting.value);
    part.settings.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The load of a search: `64 sessions`, `5,000 ops/s`.
fn load(part: &PartOf) -> String {
    let sessions = part.settings.first().and_then(|setting| setting.value.parse::<u32>().ok());
    match sessions {
        Some(sessions) => dyno_report::number::sessions(sessions.into()),
        None => format!("{} ops/s", dyno_report::number::count(part.point.into())),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listener for Terminal<'_> {
    fn event(&self, event: Event) {
        self.beside.hear(&event);
        if self.is_on_screen(&event) {
            return;
        }
        match &event {
            Event::Reached => self.reached(),
            Event::Load(event) => self.load(event),
            Event::Phase(event) => {
                locked(&self.run).get_or_insert_with(|| RunProgress::new(self.talk)).event(event);
            }
            Event::Seen(seen) => self.seen(seen),
            Event::RunOver => locked(&self.run).take().iter().for_each(RunProgress::finish),
            Event::Stored(record) => self.stored(record),
            Event::Begun(begun) => self.begun(begun),
            Event::Next(next) => self.next(next),
            Event::Ended(ended) => self.ended(ended),
            other => words::event(other, self.talk),
        }
    }

    fn password(&self, url: &TargetUrl) -> Result<Option<Secret>, Error> {
        if !ask::can() {
            return Ok(None);
        }
        self.talk.detail("the server asks for a password");
        let question = dyno_report::text::talk(&format!("password for {url}: "));
        let password = self.asks(|| rpassword::prompt_password(question));
        let password = password.map_err(|error| Error::because("the password could not be read", error))?;
        Ok(Some(Secret::new(password)))
    }

    /// Without a terminal nobody agrees.
    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error> {
        if !ask::can() {
            return Ok(false);
        }
        let lines: Vec<String> =
            commands.iter().map(|(name, command)| words::planned(name, command)).collect();
        let answer = self.asks(|| ask::yes(&lines, "run these commands?"));
        answer.map_err(|error| Error::because("nobody could be asked", error))
    }

    /// Without a terminal nobody agrees.
    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error> {
        if !ask::can() {
            return Ok(false);
        }
        let question = format!("change data of {url} that Dyno did not make?");
        let answer = self.asks(|| ask::yes(ways, &question));
        answer.map_err(|error| Error::because("nobody could be asked", error))
    }
}
