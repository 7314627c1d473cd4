//! Reads the tests of a suite from folders.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_record::RawTest;

use super::page::{Cache, LimitPlace, ScaleLimit, SuiteTestSessions, Test, TestScale};
use crate::custom::embedded::{SUITE, path_of_suite};
use crate::custom::fault::WorkloadError;
use crate::custom::folder::{MAIN, TESTS, WorkloadFolder};
use crate::custom::table::{self, TomlItem, TomlTable};

/// Groups of tests in the order of execution.
const GROUPS: [&str; 6] = ["cpu", "server", "storage", "oltp", "load", "analytics"];

/// The default for the largest number of sessions in a ramp.
const SESSIONS_MAX: u32 = 1_024;

/// The largest scale of a workload.
const SCALE_MAX: i64 = 1_000_000;

/// The largest number of units per operation.
const UNITS_MAX: i64 = 1_000_000_000;

/// The largest size of data in bytes at scale 1.
const BYTES_MAX: i64 = 1 << 40;

/// The default unit of work.
const UNIT: &str = "operations";

/// Keys at the top of a file for all its tests; all but `test` are also valid for a single test.
const SHARED: [&str; 16] = [
    "stretch",
    "usual_scale",
    "full_scale",
    "bytes",
    "fits",
    "least",
    "group",
    "unit",
    "units",
    "metric",
    "limit",
    "sessions",
    "cache",
    "raw",
    "plan",
    "without",
];
const OWN: [&str; 4] = ["title", "stresses", "mix", "threads"];

/// The tests that are embedded in the program.
///
/// # Errors
/// The first error, with its place and a hint.
pub fn catalogue() -> Result<Vec<Test>, WorkloadError> {
    let mut all = Vec::new();
    for (name, files) in SUITE {
        let path = path_of_suite(name);
        let has_workload = files.iter().any(|(file, _)| *file == MAIN);
        all.extend(tests_in(
            &WorkloadFolder::from_files(Path::new(&path), files),
            has_workload.then_some(path.as_str()),
        )?);
    }
    all.sort_by_key(|test| GROUPS.iter().position(|group| *group == test.group).unwrap_or(GROUPS.len()));
    require_unique_ids(all)
}

/// The tests of the folder at `path`: its own, or those of its subfolders.
///
/// # Errors
/// The folder has no tests; or the first error, with its place and a hint.
pub fn in_folder(path: &Path) -> Result<Vec<Test>, WorkloadError> {
    let mut folders = vec![path.to_owned()];
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
    folders.retain(|folder| folder.join(TESTS).exists());
    folders.sort();
    if folders.is_empty() {
        let hint = "a test is a folder with workload.toml and tests.toml; `dyno suite --help` says more";
        let problem = format!("there is no {TESTS} in it, nor in a folder in it");
        return Err(WorkloadError::whole(path.display().to_string(), problem, hint));
    }
    let mut all = Vec::new();
    for folder in folders {
        let workload = folder.join(MAIN).exists().then(|| folder.display().to_string());
        all.extend(tests_in(&WorkloadFolder::new(&folder), workload.as_deref())?);
    }
    require_unique_ids(all)
}

/// Refuses two tests with the same name.
fn require_unique_ids(all: Vec<Test>) -> Result<Vec<Test>, WorkloadError> {
    let mut places: BTreeMap<&str, &str> = BTreeMap::new();
    for test in &all {
        if let Some(other) = places.insert(&test.id, &test.place) {
            let problem = format!("{} is the name of the test at {other}, too", test.id);
            return Err(WorkloadError::whole(&test.place, problem, "give one of them another name"));
        }
    }
    Ok(all)
}

/// The tests of one folder, which run `workload` unless they name another.
fn tests_in(folder: &WorkloadFolder, workload: Option<&str>) -> Result<Vec<Test>, WorkloadError> {
    let file = folder.tests()?;
    table::read(&file, |top| {
        top.require_only(&[&SHARED[..], &["test"]].concat())?;
        let tests = top.need("test", "[test.NAME]")?.table("[test.NAME]")?;
        tests.items().iter().map(|item| test(item, top, workload)).collect()
    })
}

fn test(item: &TomlItem<'_>, top: &TomlTable<'_>, workload: Option<&str>) -> Result<Test, WorkloadError> {
    let test_table = item.table("[test.NAME]")?;
    test_table.require_only(&[&SHARED[..], &OWN[..]].concat())?;
    let id = item.own_name().to_owned();
    if !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        return Err(item.unknown("a test is named by small letters, digits and -", &[]));
    }
    let either = |key: &str| test_table.get(key).or_else(|| top.get(key));
    let needed = |key: &str, example: &str| match either(key) {
        Some(item) => Ok(item.text(example)?.letters.to_string()),
        None => Err(test_table.fault(&format!("{key} is missing"), format!("write {key} = {example}"))),
    };
    let text = |key: &str| either(key).map(|item| item.text("a text")).transpose();
    let (units, are_units_scaled) = either("units").map_or(Ok((1, false)), |item| units(&item))?;
    Ok(Test {
        group: needed("group", "\"cpu\"")?,
        title: needed("title", "\"Integer arithmetic\"")?,
        stresses: needed("stresses", "\"the processor with integers\"")?,
        unit: text("unit")?.map_or_else(|| UNIT.to_owned(), |unit| unit.letters.to_string()),
        units,
        are_units_scaled,
        metric: text("metric")?.map(|metric| metric.letters.to_string()),
        limit: needed("limit", "\"p95 <= 10ms\"")?,
        threads: test_table.get("threads").map_or(Ok(1), |threads| whole(&threads, 1_024))?,
        stretch: either("stretch").map_or(Ok(1), |stretch| whole(&stretch, 100))?,
        scale: TestScale {
            usual: either("usual_scale").map_or(Ok(1), |scale| whole(&scale, SCALE_MAX))?,
            full: either("full_scale").map_or(Ok(1), |scale| whole(&scale, SCALE_MAX))?,
            limit: fit(either("bytes"), either("fits"))?,
        },
        least: either("least").map(|item| item.time()).transpose()?,
        cache: either("cache").map(|item| cache(&item)).transpose()?,
        raw: either("raw").map(|item| raw(&item)).transpose()?,
        load: load(either("sessions"))?,
        plan: plan(top, &test_table, workload)?,
        without: without(top, &test_table)?,
        place: item.place(),
        id,
    })
}

/// Reads the units of one operation: a number, or `"N * scale"` to multiply by the scale.
fn units(item: &TomlItem<'_>) -> Result<(u64, bool), WorkloadError> {
    let Some(text) = item.as_text() else {
        return Ok((item.whole(1, UNITS_MAX)?.unsigned_abs(), false));
    };
    let number = text.letters.strip_suffix("scale").and_then(|rest| rest.trim_end().strip_suffix('*'));
    let number = number.and_then(|number| number.trim().replace('_', "").parse::<u64>().ok());
    match number.filter(|number| (1..=UNITS_MAX.unsigned_abs()).contains(number)) {
        Some(number) => Ok((number, true)),
        None => {
            Err(item
                .fault(format!("{} is not known", item.written()), "write a number, or \"1_000 * scale\""))
        }
    }
}

/// Raw limits with which a figure of a database can be compared.
const RAW: [RawTest; 4] =
    [RawTest::RandomRead, RawTest::SequentialRead, RawTest::SequentialWrite, RawTest::GroupCommit];

fn raw(item: &TomlItem<'_>) -> Result<RawTest, WorkloadError> {
    let written = item.text("\"random_read\"")?.letters;
    let raw_test = RAW.into_iter().find(|test| test.name() == &*written);
    let names = || RAW.map(RawTest::name).join(", ");
    raw_test.ok_or_else(|| {
        item.fault(format!("{} is not known", item.written()), format!("write one of {}", names()))
    })
}

fn fit(bytes: Option<TomlItem<'_>>, fits: Option<TomlItem<'_>>) -> Result<Option<ScaleLimit>, WorkloadError> {
    let place = fits.map(|item| match &*item.text("\"cache\" or \"memory\"")?.letters {
        "cache" => Ok(LimitPlace::Cache),
        "memory" => Ok(LimitPlace::Memory),
        _ => Err(item.fault(format!("{} is not known", item.written()), "write \"cache\" or \"memory\"")),
    });
    let place = place.transpose()?.unwrap_or(LimitPlace::Cache);
    let bytes = bytes.map(|item| item.whole(1, BYTES_MAX)).transpose()?;
    Ok(bytes.map(|bytes| ScaleLimit { bytes: bytes.unsigned_abs(), place }))
}

fn cache(item: &TomlItem<'_>) -> Result<Cache, WorkloadError> {
    match &*item.text("\"in\" or \"out\"")?.letters {
        "in" => Ok(Cache::In),
        "out" => Ok(Cache::Out),
        _ => Err(item.fault(format!("{} is not known", item.written()), "write \"in\" or \"out\"")),
    }
}

/// Reads the numbers of sessions: a number is the end of a ramp, a list contains the numbers themselves.
fn load(item: Option<TomlItem<'_>>) -> Result<SuiteTestSessions, WorkloadError> {
    let Some(item) = item else { return Ok(SuiteTestSessions::Ramp(SESSIONS_MAX)) };
    let whole = |item: &TomlItem<'_>| whole(item, 100_000);
    match item.as_list() {
        None => whole(&item).map(SuiteTestSessions::Ramp),
        Some(list) if list.is_empty() => Err(item.fault("nothing to run", "write [1], or leave it out")),
        Some(list) => list.iter().map(whole).collect::<Result<_, _>>().map(SuiteTestSessions::Fixed),
    }
}

fn whole(item: &TomlItem<'_>, most: i64) -> Result<u32, WorkloadError> {
    item.whole(1, most).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// Reads the plan keys: first those for all tests of the file, so that the test's own override them.
fn plan(
    top: &TomlTable<'_>,
    test_table: &TomlTable<'_>,
    workload: Option<&str>,
) -> Result<Vec<(String, String)>, WorkloadError> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    all.extend(workload.map(|folder| ("workload.folder".to_owned(), folder.to_owned())));
    for item in [top, test_table].into_iter().filter_map(|table| table.get("plan")) {
        for key in item.table("{ \"workload.work_unit\" = 1 }")?.items() {
            let value = key.as_text().map_or_else(|| key.written(), |text| text.letters.to_string());
            all.insert(key.own_name().to_owned(), value);
        }
    }
    if let Some(mix) = test_table.get("mix") {
        all.insert("workload.mix".to_owned(), mix.text("the name of a mix")?.letters.to_string());
    }
    // The folder comes first, because other keys depend on it.
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(key, _)| key != "workload.folder");
    Ok(all)
}

fn without(
    top: &TomlTable<'_>,
    test_table: &TomlTable<'_>,
) -> Result<BTreeMap<String, String>, WorkloadError> {
    let mut all = BTreeMap::new();
    for item in [top, test_table].into_iter().filter_map(|table| table.get("without")) {
        for engine in item.table("{ sqlite = \"SQLite has none\" }")?.items() {
            let why = engine.text("why the engine has it not")?.letters.to_string();
            all.insert(engine.own_name().to_owned(), why);
        }
    }
    Ok(all)
}
