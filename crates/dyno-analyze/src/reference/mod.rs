//! Published platforms, for comparison with one's own.
//!
//! The figures are those of a document; this program measured none of them. Source: M. Drozd,
//! Benchware AG, "Oracle Hochleistungs-Plattformen", tables 1 to 3.

use std::collections::BTreeMap;

use crate::conclusion::suite::{SuiteRampPoint, SuiteResult, SuiteTestInfo, SuiteTestResult, SuiteTestStep};
use crate::knee::{SENSITIVITY, kneedle};

/// A platform from a document.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    /// Its name, for example `server-in-memory-oracle`.
    pub name: &'static str,
    /// A description, and the source of its figures.
    pub about: &'static str,
    /// The table of figures as CSV text.
    csv: &'static str,
    /// Its tests, mapped to the most similar tests of the catalog: the name in the table, the key
    /// figure of a step, and the page.
    tests: &'static [(&'static str, &'static str, PageOf)],
}

/// The page of a test: id, group, title, unit, units per operation (0 where unknown), metric.
type PageOf = (&'static str, &'static str, &'static str, &'static str, u64, Option<&'static str>);

/// All platforms with published figures.
pub const REFERENCES: [Reference; 2] = [
    Reference {
        name: "server-in-memory-oracle",
        about: "Oracle on 2 x Xeon E5-2690 (16 cores), all in the cache; rows of 300 bytes (Benchware, \"Oracle \
                Hochleistungs-Plattformen\", tables 1 and 2)",
        csv: include_str!("server-in-memory-oracle.csv"),
        tests: &[
            ("full_table_scan", "rows_per_s", ("server-scan", "server", "Full scan", "rows", 0, None)),
            (
                "primary_key_access",
                "rows_per_s",
                ("server-lookup", "server", "Primary key lookup", "lookups", 1, None),
            ),
        ],
    },
    Reference {
        name: "random-read-flash-oracle",
        about: "Oracle with PCI attached flash, random reads of 8 KiB blocks (Benchware, \"Oracle Hochleistungs-Plattformen\", \
                table 3)",
        csv: include_str!("random-read-flash-oracle.csv"),
        tests: &[(
            "",
            "read_blocks_per_s",
            (
                "storage-random-read",
                "storage",
                "Random reads of one block",
                "blocks",
                0,
                Some("physical_reads_per_s"),
            ),
        )],
    },
];

/// The platform of this name.
pub fn reference(name: &str) -> Option<&'static Reference> {
    REFERENCES.iter().find(|reference| reference.name == name)
}

/// Columns of the tables, the corresponding figures of steps, and the conversion factors.
const COLUMNS: [(&str, &str, f64); 14] = [
    ("cpu_busy", "cpu_busy_pct", 1.0),
    ("cpu_user", "cpu_user_pct", 1.0),
    ("cpu_sys", "cpu_sys_pct", 1.0),
    ("cpu_idle", "cpu_idle_pct", 1.0),
    ("rows_per_s", "rows_per_s", 1.0),
    ("tx_per_s", "ops_per_s", 1.0),
    ("service_time_s", "service_mean_us", 1e6),
    ("lread_per_s", "logical_reads_per_s", 1.0),
    ("pread_per_s", "physical_reads_per_s", 1.0),
    ("read_iops", "physical_read_requests_per_s", 1.0),
    ("read_blocks_per_s", "physical_reads_per_s", 1.0),
    ("read_mb_per_s", "physical_read_mb_per_s", 1.0),
    ("write_iops", "physical_write_requests_per_s", 1.0),
    ("redo_write_iops", "redo_writes_per_s", 1.0),
];

impl Reference {
    /// Its figures as a suite.
    pub fn suite(&self) -> SuiteResult {
        let mut lines = self.csv.lines().filter(|line| !line.starts_with('#'));
        let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let rows: Vec<BTreeMap<&str, &str>> =
            lines.map(|line| heads.iter().copied().zip(line.split(',')).collect()).collect();
        let test = |(name, key, page): &(&str, &str, PageOf)| {
            let is_of_test = |row: &&BTreeMap<&str, &str>| row.get("test").is_none_or(|test| test == name);
            tested(page, rows.iter().filter(is_of_test).map(|row| step(row, key)).collect())
        };
        SuiteResult { depth: "printed".to_owned(), tests: self.tests.iter().map(test).collect() }
    }
}

fn step(row: &BTreeMap<&str, &str>, key: &str) -> SuiteTestStep {
    let number = |column: &str| row.get(column).and_then(|text| text.parse::<f64>().ok());
    let figure =
        |(column, name, times): &(&str, &str, f64)| Some(((*name).to_owned(), number(column)? * times));
    SuiteTestStep {
        sessions: number("jobs").unwrap_or_default() as u32,
        runs: Vec::new(),
        key: number(key),
        figures: COLUMNS.iter().filter_map(figure).collect(),
        costs: BTreeMap::new(),
        elapsed_s: number("elapsed_s").unwrap_or_default(),
        events: Vec::new(),
        marked: Vec::new(),
    }
}

fn tested((id, group, title, unit, units, metric): &PageOf, steps: Vec<SuiteTestStep>) -> SuiteTestResult {
    let page = SuiteTestInfo {
        id: (*id).to_owned(),
        group: (*group).to_owned(),
        title: (*title).to_owned(),
        stresses: String::new(),
        unit: (*unit).to_owned(),
        units: *units,
        metric: metric.map(str::to_owned),
        limit: String::new(),
        cache: None,
        raw: None,
        threads: 1,
        least: None,
        nodes: None,
        why_not: None,
        failed: None,
    };
    let at = |step: &SuiteTestStep| {
        Some(SuiteRampPoint { sessions: step.sessions, value: step.key?, spread_pct: None, range: None })
    };
    let keyed: Vec<SuiteRampPoint> = steps.iter().filter_map(at).collect();
    let sessions: Vec<f64> = keyed.iter().map(|at| f64::from(at.sessions)).collect();
    let values: Vec<f64> = keyed.iter().map(|at| at.value).collect();
    let single = steps.iter().find(|step| step.sessions == 1);
    SuiteTestResult {
        single_us: single.and_then(|step| step.figures.get("service_mean_us").copied()),
        most: keyed.iter().copied().reduce(|best, at| if at.value > best.value { at } else { best }),
        optimum: None,
        knee: kneedle(&sessions, &values, SENSITIVITY).map(|place| keyed[place]),
        limited_by: None,
        limit: None,
        saturated: None,
        left_out: Vec::new(),
        of_raw: None,
        unfit: None,
        notes: Vec::new(),
        steps,
        page,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'s>(suite: &'s SuiteResult, id: &str) -> &'s SuiteTestResult {
        suite.tests.iter().find(|test| test.page.id == id).unwrap()
    }

    #[test]
    fn reference_table_rows_become_steps_with_key_values() {
        let server = reference("server-in-memory-oracle").unwrap().suite();
        let (scan, lookup) = (found(&server, "server-scan"), found(&server, "server-lookup"));
        assert_eq!((scan.steps.len(), lookup.steps.len()), (6, 6));
        assert_eq!(
            scan.most.unwrap(),
            SuiteRampPoint { sessions: 32, value: 6.885e7, spread_pct: None, range: None }
        );
        assert_eq!((lookup.single_us, lookup.most.unwrap().value), (Some(40.1), 512_000.0));
        assert_eq!(lookup.steps[0].figures["logical_reads_per_s"], 75_030.0);
        let flash = reference("random-read-flash-oracle").unwrap().suite();
        let reads = found(&flash, "storage-random-read");
        assert_eq!((reads.steps.len(), reads.most.unwrap().sessions), (8, 64));
        assert_eq!(reads.steps[6].figures["physical_read_requests_per_s"], 533_028.0);
        assert!(reads.steps.iter().all(|step| step.key.is_some() && step.elapsed_s > 0.0));
        assert_eq!(reads.knee.unwrap().sessions, 32);
        assert!(reference("no-such").is_none());
    }
}
