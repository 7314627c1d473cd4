//! Counters of the model for each session and in total, by the names of Oracle's statistics.

macro_rules! statistics {
    ($($name:ident = $text:literal,)*) => {
        /// A statistic, named as in `V$SYSSTAT`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Statistic {
            $($name,)*
        }

        impl Statistic {
            pub(super) const ALL: &[Self] = &[$(Self::$name,)*];

            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }

        const COUNT: usize = Statistic::ALL.len();
    };
}

statistics! {
    LogicalReads = "session logical reads",
    ConsistentGets = "consistent gets",
    CurrentGets = "db block gets",
    BlockChanges = "db block changes",
    PhysicalReads = "physical reads",
    PhysicalReadRequests = "physical read IO requests",
    PhysicalReadBytes = "physical read bytes",
    DirectReads = "physical reads direct",
    PhysicalWrites = "physical writes",
    PhysicalWriteRequests = "physical write IO requests",
    PhysicalWriteBytes = "physical write bytes",
    RedoSize = "redo size",
    RedoEntries = "redo entries",
    RedoWrites = "redo writes",
    RedoSyncs = "redo synch writes",
    RedoSyncTime = "redo synch time (usec)",
    Commits = "user commits",
    Rollbacks = "user rollbacks",
    Executions = "execute count",
    Parses = "parse count (total)",
    HardParses = "parse count (hard)",
    UserCalls = "user calls",
    Logons = "logons cumulative",
    RowsByRowid = "table fetch by rowid",
    RowsByScan = "table scan rows gotten",
    BlocksByScan = "table scan blocks gotten",
    ShortScans = "table scans (short tables)",
    LongScans = "table scans (long tables)",
    DirectScans = "table scans (direct read)",
    RowLockWaits = "enqueue waits",
}

impl Statistic {
    /// Whether background processes count it: it belongs to the instance and not to a container.
    pub(super) fn is_of_background(self) -> bool {
        matches!(
            self,
            Self::PhysicalWrites | Self::PhysicalWriteRequests | Self::PhysicalWriteBytes | Self::RedoWrites
        )
    }
}

/// A value for each statistic, and two durations.
#[derive(Debug, Clone, Default)]
pub(super) struct Statistics {
    values: [u64; COUNT],
    /// Nanoseconds that sessions spent in calls, including waits.
    pub(super) call_ns: u64,
    /// Nanoseconds of `call_ns` spent in waits.
    pub(super) wait_ns: u64,
}

impl Statistics {
    pub(super) fn add(&mut self, statistic: Statistic, count: u64) {
        self.values[statistic as usize] += count;
    }

    pub(super) fn get(&self, statistic: Statistic) -> u64 {
        self.values[statistic as usize]
    }

    /// Counts blocks read in their committed state, by index or by scan.
    pub(super) fn read_blocks(&mut self, blocks: u64) {
        self.add(Statistic::LogicalReads, blocks);
        self.add(Statistic::ConsistentGets, blocks);
    }

    /// Counts blocks read for a change and changed, with this number of redo bytes.
    pub(super) fn change_blocks(&mut self, blocks: u64, redo_bytes: u64) {
        self.add(Statistic::LogicalReads, blocks);
        self.add(Statistic::CurrentGets, blocks);
        self.add(Statistic::BlockChanges, blocks);
        self.add(Statistic::RedoEntries, blocks);
        self.add(Statistic::RedoSize, redo_bytes);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (sum, value) in self.values.iter_mut().zip(other.values) {
            *sum += value;
        }
        self.call_ns += other.call_ns;
        self.wait_ns += other.wait_ns;
    }
}
