//! Which thread leads which session, where the server's processes run on this machine too.
//!
//! A message to a process on another processor costs an interrupt of that processor and moves what both share between
//! their caches: with 4 sessions on 2 processors, operations took twice the client's time where threads and the processes
//! they talk to were mixed, and it stays as it begins. So each thread begins on a processor of its own and gets the sessions
//! whose server processes are there, as far as all threads get the same number; the others are called over.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use dyno_plan::Placement;
use dyno_record::Placed;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::seat::Seat;

/// Questions after which a server process that has not come stays where it is.
const CALLS_MAX: u32 = 8;
/// Sessions that are called at most, so that all have come when the gate opens.
const CALLED_MAX: usize = 64;
/// How often a team that waits for the others looks at the clock.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The sessions of a team; boxed, because they change hands often and are large.
pub(crate) type Hand = Vec<Box<Seat>>;

/// One team among others.
pub(crate) struct Place {
    /// Its number, from 0.
    pub(crate) team: usize,
    /// Where sessions are dealt.
    pub(crate) table: Arc<Table>,
}

/// Where teams put their sessions and get them back dealt anew.
pub(crate) struct Table {
    teams: usize,
    /// The processor of each team; empty where there are too few.
    processors: Vec<usize>,
    hands: Mutex<Hands>,
    dealt: Condvar,
    /// The team that calls its sessions.
    calls: AtomicUsize,
    /// What [`Placed`] says: threads kept, sessions told, sessions beside.
    placed: [AtomicU32; 3],
}

#[derive(Default)]
struct Hands {
    /// What each team has brought, and takes again.
    seats: Vec<(usize, Hand)>,
    arrived: usize,
}

impl Place {
    /// Gives `seats` for as many others, and keeps the thread on its own processor until the returned guard goes.
    /// Every team must come, once; it is over when all have, or when it is `late`.
    pub(crate) fn take(&self, seats: Hand, late: &dyn Fn() -> bool) -> (Hand, Option<Stay>) {
        let table = &self.table;
        if table.processors.is_empty() {
            table.note(&seats, None);
            return (seats, None);
        }
        let mut seats = table.deal(self.team, seats, late);
        // With a server elsewhere the scheduler places threads as well as we could.
        let here = seats.iter().any(|seat| seat.processor.is_some());
        let stay = here.then(|| Stay::on(table.processors[self.team])).flatten();
        for team in 0..table.teams {
            if team == self.team {
                self.call(&mut seats, late);
                table.calls.store(team + 1, Ordering::Release);
            }
            // Nobody may sleep meanwhile: a process that is called would go to the processor that is idle.
            while table.calls.load(Ordering::Acquire) <= team && !late() {
                std::hint::spin_loop();
            }
        }
        table.note(&seats, stay.as_ref().map(|_| table.processors[self.team]));
        (seats, stay)
    }

    /// Asks the sessions whose server processes are elsewhere something: the process wakes beside the thread that asks.
    fn call(&self, seats: &mut Hand, late: &dyn Fn() -> bool) {
        let own = self.table.processors[self.team];
        let away = seats.iter_mut().filter(|seat| seat.processor.is_some_and(|processor| processor != own));
        for seat in away.take(CALLED_MAX) {
            for _ in 0..CALLS_MAX {
                if late() || !seat.call(late) || seat.session.server_processor() == Some(own) {
                    break;
                }
            }
        }
    }
}

impl Table {
    /// For so many teams, which are placed as the plan says.
    pub(crate) fn of(teams: usize, placement: Placement) -> Self {
        match placement {
            Placement::Auto => Self::on(teams, allowed()),
            Placement::None => Self::on(teams, Vec::new()),
        }
    }

    /// How many teams there are.
    pub(crate) fn teams(&self) -> usize {
        self.teams
    }

    /// Where teams and the processes of their sessions were when the gate opened.
    pub(crate) fn placed(&self) -> Placed {
        let [kept, told, beside] = [0, 1, 2].map(|at| self.placed[at].load(Ordering::Acquire));
        Placed { kept, told, beside }
    }

    /// Counts the sessions of a team that is kept on processor `own`, if it is.
    fn note(&self, seats: &Hand, own: Option<usize>) {
        let now = seats.iter().filter_map(|seat| seat.session.server_processor());
        let now: Vec<usize> = now.collect();
        let beside = now.iter().filter(|at| Some(**at) == own).count();
        let counts = [usize::from(own.is_some()), now.len(), beside];
        for (sum, count) in self.placed.iter().zip(counts) {
            sum.fetch_add(count as u32, Ordering::AcqRel);
        }
    }

    fn on(teams: usize, processors: Vec<usize>) -> Self {
        let enough = teams > 1 && processors.len() >= teams;
        Self {
            teams,
            processors: if enough { processors } else { Vec::new() },
            hands: Mutex::default(),
            dealt: Condvar::new(),
            calls: AtomicUsize::new(0),
            placed: Default::default(),
        }
    }

    /// Puts `seats` down and takes as many up, once all teams are there; the same ones if not all have come when it is
    /// `late`, as when the run is stopped while the gate opens.
    fn deal(&self, team: usize, seats: Hand, late: &dyn Fn() -> bool) -> Hand {
        let mut hands = self.hands.lock().unwrap_or_else(PoisonError::into_inner);
        hands.seats.push((team, seats));
        hands.arrived += 1;
        if hands.arrived == self.teams {
            hands.deal(&self.processors);
            self.dealt.notify_all();
        }
        while hands.arrived < self.teams && !late() {
            let waited = self.dealt.wait_timeout(hands, LOOK_EVERY);
            hands = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let place = hands.seats.iter().position(|(of, _)| *of == team);
        place.map(|place| hands.seats.swap_remove(place).1).unwrap_or_default()
    }
}

impl Hands {
    fn deal(&mut self, processors: &[usize]) {
        self.seats.sort_by_key(|(team, _)| *team);
        let sizes: Vec<usize> = self.seats.iter().map(|(_, seats)| seats.len()).collect();
        let all: Hand = self.seats.iter_mut().flat_map(|(_, seats)| std::mem::take(seats)).collect();
        let team_on = |at: usize| processors.iter().position(|processor| *processor == at);
        let near: Vec<Option<usize>> = all.iter().map(|seat| seat.processor.and_then(team_on)).collect();
        for (seat, team) in all.into_iter().zip(assign(&near, &sizes)) {
            self.seats[team].1.push(seat);
        }
        for (_, seats) in &mut self.seats {
            seats.sort_by_key(|seat| seat.worker.setup.number);
        }
    }
}

/// For each session its team: the one it is near where that has room, the others in order where there is room left.
/// `sizes` are the teams'; their sum is the number of sessions.
fn assign(near: &[Option<usize>], sizes: &[usize]) -> Vec<usize> {
    let mut room = sizes.to_vec();
    let mut take = |team: usize| {
        let free = room.get_mut(team).filter(|free| **free > 0)?;
        *free -= 1;
        Some(team)
    };
    let first: Vec<Option<usize>> = near.iter().map(|near| near.and_then(&mut take)).collect();
    first
        .into_iter()
        .map(|team| team.or_else(|| (0..sizes.len()).find_map(&mut take)).expect("there is room for all"))
        .collect()
}

/// The processors that this process may use, in order.
fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Keeps the calling thread on one processor.
pub(crate) struct Stay(CpuSet);

impl Stay {
    /// On `processor`; `None` where the system does not let us.
    fn on(processor: usize) -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut own = CpuSet::new();
        own.set(processor);
        sched_setaffinity(None, &own).ok()?;
        Some(Self(before))
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // Without it the thread stays where it is, which is no worse than before.
        let _ = sched_setaffinity(None, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sessions_go_where_their_servers_are_as_far_as_there_is_room() {
        assert_eq!(assign(&[Some(1), Some(0), Some(1), Some(0)], &[2, 2]), [1, 0, 1, 0]);
        assert_eq!(assign(&[Some(1), Some(1), Some(1), None], &[2, 2]), [1, 1, 0, 0]);
        assert_eq!(assign(&[Some(7), None], &[1, 1]), [0, 1]);
    }

    #[test]
    fn teams_wait_for_each_other_and_for_nobody_when_it_is_late() {
        let place = |team, table: &Arc<Table>| Place { team, table: Arc::clone(table) };
        let both = Arc::new(Table::on(2, vec![0, 1]));
        std::thread::scope(|scope| {
            scope.spawn(|| place(0, &both).take(Vec::new(), &|| false));
            scope.spawn(|| place(1, &both).take(Vec::new(), &|| false));
        });
        assert_eq!(both.calls.load(Ordering::Acquire), 2);

        // The run is stopped while the gate opens: the other team never comes.
        let alone = Arc::new(Table::on(2, vec![0, 1]));
        let looks = AtomicUsize::new(0);
        place(0, &alone).take(Vec::new(), &|| looks.fetch_add(1, Ordering::Relaxed) > 2);
        assert_eq!(alone.hands.lock().unwrap().arrived, 1);
        assert!(Table::on(2, vec![0]).processors.is_empty(), "one processor is nobody's own");
    }

    proptest! {
        #[test]
        fn every_team_keeps_its_number(
            near in prop::collection::vec(prop::option::of(0..6usize), 0..60), teams in 1..5usize,
        ) {
            let sizes: Vec<usize> = (0..teams).map(|team| near.len() / teams + usize::from(team < near.len() % teams)).collect();
            let dealt = assign(&near, &sizes);
            for (team, size) in sizes.iter().enumerate() {
                prop_assert_eq!(dealt.iter().filter(|at| **at == team).count(), *size);
            }
        }
    }
}
