//! The two ends of a window: announced to the sessions, waited for, and read.

use std::time::Duration;

use dyno_record::now_rfc3339;

use super::Conductor;
use super::beat::BEAT;
use super::reading::FAR_EDGE;
use super::window::with_overhead;
use crate::collector::{self, Collector};
use crate::crew::Crew;
use crate::job::Outcome;
use crate::looks::Look;
use crate::observe::Taken;
use crate::watch::Event;
use crate::watcher::Watcher;

/// How long sessions usually take at most to reach an edge of the window, s: then one snapshot serves for all.
const EDGE_SHARP_S: f64 = 0.03;
/// The same where counters show at once what is done: what a session tells of its own share is asked for there too, and a
/// snapshot without it cannot tell others' work from the run's.
const EDGE_TOLD_S: f64 = 0.1;
/// How long a run that ends early waits for its sessions at the window's end, s.
const EDGE_BROKEN_S: f64 = 0.5;
/// How often it looks up where it waits for something that takes less than a millisecond.
const LOOK: Duration = Duration::from_micros(200);
/// The longest wait for a sample of waits that is under way when the window ends.
const SAMPLE_MAX: Duration = Duration::from_millis(200);

impl Conductor<'_> {
    /// Begins the window, at one moment for all sessions: at `due_ns`, or as soon as it can be announced.
    pub(super) fn begin_window(&mut self, crew: &mut dyn Crew, due_ns: u64) -> Result<(), Outcome> {
        let origin_ns = due_ns.max(self.now_ns() + crew.lead_ns());
        self.measured.origin_ns = Some(origin_ns);
        let late_ns = crew.open_window(origin_ns, self.planned_end_ns(origin_ns));
        self.stalls.delayed(late_ns);
        while self.now_ns() < origin_ns {
            self.look(crew)?;
            std::thread::park_timeout(LOOK);
        }
        let all_publish = self.job.targets.iter().all(|aim| aim.identity.counting.at_edges);
        let patience_s = if all_publish { EDGE_SHARP_S } else { EDGE_TOLD_S };
        self.wait_edge(crew, 0, patience_s);
        self.stalls.begin(self.now_ns());
        self.opening = !self.is_at_edge(crew, 0);
        self.blind = self.opening;
        // Counters that show at once what is done are read now, whoever is still in an operation.
        let (job, opening) = (self.job, self.opening);
        let now = |at: usize| (!opening || !job.targets[at].identity.counting.at_edges).then_some(0);
        let taken = self.all_snapshots(crew, &now, FAR_EDGE)?;
        self.previous = (with_overhead(crew, taken.clone()), self.counted_until(crew, 0, origin_ns));
        self.measured.begin_at = taken.first().map_or_else(now_rfc3339, |taken| taken.at.clone());
        for (target, taken) in self.measured.targets.iter_mut().zip(taken) {
            target.vigil.begin(&taken);
            target.begin = Some(taken);
        }
        self.measured.processors.begin(self.job, &crew.local_clients());
        self.watchers.iter().for_each(Watcher::resume_sampler);
        if !self.opening {
            crew.enter_window();
        }
        self.watch.event(&Event::Window { at_ns: origin_ns, late_ns });
        Ok(())
    }

    /// Reads again the counters that show what sessions did only when these make it visible, once all of them have.
    pub(super) fn opened(&mut self, crew: &mut dyn Crew) -> Result<(), Outcome> {
        if !self.opening || !self.is_at_edge(crew, 0) {
            return Ok(());
        }
        let looks = self.looks();
        let due: Vec<usize> = (0..looks.len()).filter(|&at| looks[at].at(0) == Look::Before).collect();
        // A sample's transaction that ends just now may be counted before it is known.
        self.watchers.iter().for_each(|watcher| watcher.pause_sampler(SAMPLE_MAX));
        let far = self.far_patience();
        let snapshots = self.all_snapshots(crew, &|at| due.contains(&at).then_some(0), far);
        self.watchers.iter().for_each(Watcher::resume_sampler);
        let taken = match snapshots {
            // A database is lost whose outage is measured: it is read when it is back.
            Err(Outcome::Failed(_)) if self.job.reconnects() => return Ok(()),
            taken => taken?,
        };
        for at in due {
            self.measured.targets[at].vigil.see(&taken[at]);
            if let Some(begin) = &mut self.measured.targets[at].begin {
                // The machine's own counters and the time stay those of the window's begin.
                begin.database = taken[at].database.clone();
                self.previous.0[at].database = taken[at].database.clone();
                self.measured.targets[at].begin_counts_ns = Some(taken[at].at_ns());
            }
        }
        self.opening = false;
        crew.enter_window();
        Ok(())
    }

    /// Whether all sessions that are still there have reached an edge.
    fn is_at_edge(&self, crew: &dyn Crew, edge: usize) -> bool {
        crew.at_edge(edge) + crew.ended() >= crew.size().sessions
    }

    /// Until when the counters of an edge, which is due at `edge_ns`, hold what sessions did, on average: these work on until
    /// the counters are there.
    fn counted_until(&self, crew: &dyn Crew, edge: usize, edge_ns: u64) -> u64 {
        let all_publish = self.job.targets.iter().all(|aim| aim.identity.counting.at_edges);
        let answered_ns = self.looks().iter().map(|looks| looks.answered_ns(edge)).max().unwrap_or(0);
        let until_ns = if all_publish { answered_ns.min(crew.shown_ns_mean()) } else { answered_ns };
        until_ns.max(edge_ns)
    }

    /// Waits until all sessions have reached an edge, for a bounded time beside that which they need to hear of it.
    fn wait_edge(&mut self, crew: &mut dyn Crew, edge: usize, patience_s: f64) {
        let until_s = self.now_s() + patience_s + crew.lead_ns() as f64 / 1e9;
        // Sessions need microseconds: look often at first, without hearing their reports.
        while !self.is_at_edge(crew, edge) && self.now_s() < until_s {
            std::thread::park_timeout(LOOK);
            crew.listen(Duration::ZERO);
        }
        self.beat();
    }

    /// Ends the window. A session that is in an operation is waited for, as long as the plan lets operations end.
    pub(super) fn end_window(&mut self, crew: &mut dyn Crew, collector: &mut Collector, in_time: bool) {
        self.watchers.iter().for_each(|watcher| watcher.pause_sampler(SAMPLE_MAX));
        let end_ns = crew.close_window();
        self.watch.event(&Event::Closing { at_ns: end_ns });
        let patience_s =
            if in_time { self.job.plan.run.drain.0.as_secs_f64().max(EDGE_BROKEN_S) } else { EDGE_BROKEN_S };
        let until_s = self.now_s() + patience_s;
        self.wait_edge(crew, 1, EDGE_SHARP_S);
        while !self.is_at_edge(crew, 1) && self.now_s() < until_s && (!in_time || self.look(crew).is_ok()) {
            crew.listen(BEAT);
            self.beat();
        }
        let taken = self.snapshots(Some(crew), &|_| Some(1), Some(FAR_EDGE));
        collector.drain();
        if let Ok(taken) = taken.iter().cloned().collect::<Result<Vec<Taken>, _>>() {
            let interval_ns = self.job.plan.observe.interval.0.as_nanos() as u64;
            let origin_ns = self.measured.origin_ns.unwrap_or(end_ns);
            // A moment more than a whole interval does not begin another one.
            let intervals = end_ns.saturating_sub(origin_ns) as f64 / interval_ns.max(1) as f64;
            let index = (intervals - collector::SLIVER).ceil().max(1.0) as usize - 1;
            let until_ns = self.counted_until(crew, 1, end_ns);
            self.note_interval(crew, collector, index, taken, until_ns);
        }
        let first = taken.first().and_then(|taken| taken.as_ref().ok());
        self.measured.end_at = first.map_or_else(now_rfc3339, |taken| taken.at.clone());
        for (target, taken) in self.measured.targets.iter_mut().zip(taken) {
            match taken {
                Ok(taken) => {
                    target.vigil.end(&taken);
                    target.end = Some(taken);
                }
                Err(reason) => target.no_end = Some(reason),
            }
        }
        self.measured.processors.end(self.job, &crew.local_clients());
        self.profiler.close();
        self.stalls.end();
        self.measured.stalls = self.stalls.stalls();
    }
}
