//! Tests of imports with realistic files.

use dyno_plan::engine::{EngineSpec, UrlForm};
use dyno_plan::plan::{AwrObserveMode, Commit, DriveMode, Length, Redo};
use dyno_plan::units::TimeSpan;

use super::*;

mod round_trip;

/// Engines modeled on the real ones that the kits need.
const ENGINES: Engines = Engines(&[
    EngineSpec::plain("sqlite", UrlForm::File { write: "write sqlite:PATH" }, "sqlite:dyno.db"),
    EngineSpec {
        aliases: &["postgresql"],
        commits: &[Commit::Nowait],
        ..EngineSpec::plain("postgres", UrlForm::Server, "postgres://dyno@localhost:5432/bench")
    },
    EngineSpec {
        commits: &[Commit::Nowait, Commit::Plsql],
        awr: true,
        ..EngineSpec::plain("oracle", UrlForm::Server, "oracle://dyno@localhost:1521/FREEPDB1")
    },
]);

const SQLITE: &str = "sqlite:dyno.db";

fn file(name: &str, text: &str) -> PlanFile {
    PlanFile { name: name.into(), text: text.into() }
}

fn on_sqlite() -> KitImportOptions {
    KitImportOptions { target: Some(SQLITE.into()), ..anywhere() }
}

fn anywhere() -> KitImportOptions {
    KitImportOptions { engines: ENGINES, ..KitImportOptions::default() }
}

#[track_caller]
fn imported(text: &str, options: &KitImportOptions) -> ImportedPlan {
    let imported =
        import(&file("slob.conf", text), options).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let again = check(&imported.text, ENGINES).unwrap_or_else(|errors| panic!("{}\n{errors}", imported.text));
    assert_eq!(again, imported.plan);
    assert!(imported.text.lines().all(|line| line.chars().count() <= 200), "{}", imported.text);
    imported
}

#[track_caller]
fn plan(text: &str) -> Plan {
    imported(text, &on_sqlite()).plan
}

fn errors(text: &str, options: &KitImportOptions) -> Vec<String> {
    match import(&file("slob.conf", text), options) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.to_string().lines().map(str::to_owned).collect(),
    }
}

/// Whether the plan reader of this version accepts `set`.
fn is_driven(set: &str) -> bool {
    let sets = vec![set.to_owned()];
    read(&PlanSource { target: Some(SQLITE.into()), sets, file: None, ..PlanSource::of(ENGINES) }).is_ok()
}

fn seconds(seconds: u64) -> Length {
    Length::Time(TimeSpan(std::time::Duration::from_secs(seconds)))
}

/// The file of SLOB 2.5 with the settings of a study of a cloud volume.
const RANDOM: &str = "\
#### SLOB 2.5.4.0 slob.conf

UPDATE_PCT=20
SCAN_PCT=0
RUN_TIME=600
WORK_LOOP=0
SCALE=75G
SCAN_TABLE_SZ=50G
WORK_UNIT=64
REDO_STRESS=LITE
LOAD_PARALLEL_DEGREE=12

THREADS_PER_SCHEMA=8
DATABASE_STATISTICS_TYPE=awr   # Permitted values: [statspack|awr]

#### Settings for SQL*Net connectivity:
#ADMIN_SQLNET_SERVICE=\"replace\"
#SQLNET_SERVICE_MAX=\"if needed, replace with a non-zero integer\"
#DBA_PRIV_USER=\"system\"
#SYSDBA_PASSWD=\"manager\"

EXTERNAL_SCRIPT=''

DO_HOTSPOT=FALSE
HOTSPOT_MB=8
HOTSPOT_OFFSET_MB=16
HOTSPOT_FREQUENCY=3

HOT_SCHEMA_FREQUENCY=0

THINK_TM_FREQUENCY=0
THINK_TM_MIN=.1
THINK_TM_MAX=.5
";

#[test]
fn slob_2_5_conf_becomes_equivalent_plan() {
    let plan = plan(RANDOM);
    assert_eq!((plan.data.scale.to_string(), plan.data.scan_scale.to_string()), ("75G".into(), "50G".into()));
    assert_eq!((plan.data.load_parallel, plan.data.schemas, plan.run.sessions_per_schema), (12, 1, 8));
    let work = &plan.workload;
    assert_eq!((work.update_pct, work.scan_pct, work.work_unit, work.redo), (20, 0, 64, Redo::Lite));
    assert_eq!((plan.run.length(), plan.run.warmup.to_string()), (seconds(600), "30s".into()));
    assert_eq!((work.hot_spot_every, work.think_every, work.hot_schema_every), (0, 0, 0));
    assert_eq!((work.think_min.to_string(), work.think_max.to_string()), ("100ms".into(), "500ms".into()));
}

#[test]
fn slob_import_for_oracle_sets_commit_mode_and_service() {
    let on_oracle = imported(RANDOM, &anywhere());
    let Plan { target, workload, observe, .. } = &on_oracle.plan;
    assert_eq!(target.url.to_string(), "oracle://dyno@localhost:1521/FREEPDB1");
    assert_eq!(target.password_env.as_deref(), Some("DYNO_PASSWORD"));
    assert_eq!((workload.drive, workload.commit), (DriveMode::Server, Commit::Plsql));
    assert_eq!(observe.awr, AwrObserveMode::Awr);
    for (service, url) in [
        ("ORCLPDB", "oracle://dyno@/ORCLPDB"),
        ("//db1:1522/orclpdb.example.com", "oracle://dyno@db1:1522/orclpdb.example.com"),
        ("db1/orclpdb", "oracle://dyno@db1/orclpdb"),
        ("[::1]:1521/orclpdb", "oracle://dyno@[::1]:1521/orclpdb"),
    ] {
        let plan = imported(&format!("SQLNET_SERVICE_BASE=\"{service}\"\n"), &anywhere()).plan;
        assert_eq!(plan.target.url, url.parse().unwrap(), "{service}");
    }
    // The same load on another engine, where every commit waits.
    let elsewhere = KitImportOptions { target: Some("postgres://db1/bench".into()), ..anywhere() };
    let plan = imported(RANDOM, &elsewhere).plan;
    assert_eq!((plan.workload.drive, plan.workload.commit), (DriveMode::Server, Commit::Wait));
    assert_eq!(plan.target.password_env, None);
}

/// A file of an older version: exports at the end, parameters of 2.0, operations instead of time.
const OLDER: &str = "\
UPDATE_PCT=20
RUN_TIME=30000
WORK_LOOP=1000
SCALE=10000
WORK_UNIT=256
REDO_STRESS=HEAVY
LOAD_PARALLEL_DEGREE=8
SHARED_DATA_MODULUS=0

export UPDATE_PCT RUN_TIME WORK_LOOP SCALE WORK_UNIT LOAD_PARALLEL_DEGREE REDO_STRESS SHARED_DATA_MODULUS
";

#[test]
fn slob_2_0_conf_limits_run_by_operations() {
    let imported = imported(OLDER, &KitImportOptions { schemas: Some(32), ..on_sqlite() });
    let plan = imported.plan;
    assert_eq!((plan.run.length(), plan.run.time), (Length::Ops(1_000), None));
    assert_eq!((plan.workload.redo, plan.workload.work_unit, plan.data.schemas), (Redo::Heavy, 256, 32));
    assert_eq!(plan.data.scale.to_string(), "10000 blocks");
    let time = imported.notes.iter().find(|note| note.parameter == "RUN_TIME").unwrap();
    assert_eq!((time.fate, time.line), (ParameterMapping::None, Some(2)));
}

#[test]
fn missing_parameters_have_the_defaults_of_the_kit() {
    for text in ["REDO_STRESS=LITE\n", "REDO_STRESS=\nSCALE=''\n", "# only this\nexport WORK_UNIT=\"\"\n"] {
        let imported = imported(text, &on_sqlite());
        let Plan { data, workload, run, .. } = &imported.plan;
        assert_eq!((workload.update_pct, workload.work_unit, workload.scan_pct), (25, 256, 0));
        assert_eq!((data.scale.to_string(), data.load_parallel), ("10000 blocks".into(), 2));
        assert_eq!((run.length(), run.sessions_per_schema), (seconds(300), 1));
        assert!(imported.text.contains("# UPDATE_PCT is not set, its default is 25"), "{}", imported.text);
    }
}

#[test]
fn kit_configuration_is_read_with_shell_syntax() {
    for text in [
        "UPDATE_PCT=10\nWORK_UNIT=32\nSCALE=80M",
        "\u{feff}export UPDATE_PCT=10;WORK_UNIT=32 SCALE='80M' # three",
        "UPDATE_PCT=\"10\"\r\nWORK_UNIT='32'\r\nSCALE=\"80 M\"\r\n",
        "  UPDATE_PCT=1\\\n0\n\tWORK_UNIT=3\"2\"\nSCALE=80\\M\nexport UPDATE_PCT \\\n WORK_UNIT",
        "UPDATE_PCT=99\nUPDATE_PCT=10 # the last one counts\nWORK_UNIT=32\nSCALE=80M\n\n#SCALE=1\n",
    ] {
        let plan = plan(text);
        assert_eq!((plan.workload.update_pct, plan.workload.work_unit), (10, 32), "{text}");
        assert_eq!(plan.data.scale.to_string(), "80M", "{text}");
    }
}

#[test]
fn import_options_replace_runit_arguments() {
    let options = KitImportOptions { schemas: Some(16), sessions: Some(32), ..on_sqlite() };
    let imported = imported("THREADS_PER_SCHEMA=4\n", &options);
    assert_eq!((imported.plan.data.schemas, imported.plan.run.sessions_per_schema), (16, 32));
    assert!(imported.text.contains("# --sessions 32"), "{}", imported.text);
    assert!(imported.text.contains("THREADS_PER_SCHEMA=4. The option counts"), "{}", imported.text);
}

#[test]
fn slob_hot_spots_and_think_time_are_imported() {
    if !is_driven("workload.hot_spot_every=3") || !is_driven("workload.think_every=3") {
        return;
    }
    let text = "DO_HOTSPOT=TRUE\nHOTSPOT_MB=8\nHOTSPOT_OFFSET_MB=16\nHOTSPOT_FREQUENCY=3\nSCALE=80M\n\
                THINK_TM_FREQUENCY=7\nTHINK_TM_MIN=.25\nTHINK_TM_MAX=2\nHOT_SCHEMA_FREQUENCY=5\n";
    let work = plan(text).workload;
    assert_eq!((work.hot_spot_every, work.hot_schema_every, work.think_every), (3, 5, 7));
    assert_eq!(
        (work.hot_spot_offset.to_string(), work.hot_spot_size.to_string()),
        ("16M".into(), "8M".into())
    );
    assert_eq!((work.think_min.to_string(), work.think_max.to_string()), ("250ms".into(), "2s".into()));
    let work = plan(&text.replace("SCALE=80M", "SCALE=10240")).workload;
    assert_eq!(work.hot_spot_offset.to_string(), "2048 blocks");
    assert_eq!(work.hot_spot_size.to_string(), "1024 blocks");
    let older = plan("SHARED_DATA_MODULUS=5\nTHINK_TM_MODULUS=11\n").workload;
    assert_eq!((older.hot_schema_every, older.think_every), (5, 11));
}

#[test]
fn slob_external_script_becomes_hooks() {
    if !is_driven("hooks.pre=date") {
        return;
    }
    let plan = plan("EXTERNAL_SCRIPT=\"/home/oracle/my SLOB/misc/it's.sh\"\n");
    assert_eq!(plan.hooks.pre.as_deref(), Some("sh '/home/oracle/my SLOB/misc/it'\\''s.sh' pre"));
    assert_eq!(plan.hooks.end.as_deref(), Some("sh '/home/oracle/my SLOB/misc/it'\\''s.sh' end"));
}

#[test]
fn parameters_without_counterpart_are_reported() {
    let text = "DBA_PRIV_USER=system\nDATABASE_STATISTICS_TYPE=statspack\nNO_OS_PERF_DATA=1\nDO_UPDATE_HOTSPOT=TRUE\nHOTSPOT_PCT=10\n";
    let imported = imported(text, &on_sqlite());
    for (line, parameter) in
        [(1, "DBA_PRIV_USER=system"), (4, "DO_UPDATE_HOTSPOT=TRUE"), (5, "HOTSPOT_PCT=10")]
    {
        let comment = format!("# - slob.conf:{line}: {parameter}. No counterpart: ");
        assert!(imported.text.contains(&comment), "{comment}\n{}", imported.text);
    }
}

#[test]
fn kit_import_never_copies_or_shows_passwords() {
    let secret = "hunter2";
    for text in [
        format!("SYSDBA_PASSWD='{secret}'\nUPDATE_PCT=10\n"),
        format!("SYSDBA_PASSWD='{secret}'\nUPDATE_PCT=110\nMY_PASSWD={secret}\n"),
        format!("SYSDBA_PASSWD=\"{secret}`x`\"\n"),
        format!("SYSDBA_PASSWD={secret} {secret}\n"),
        format!("SYSDBA_PASSWD='{secret}\n"),
        format!("ADMIN_SQLNET_SERVICE=\\\nSYSDBA_PASSWD='{secret}'\n"),
        format!("UPDATE_PCT=\\\nSYSDBA_PASSWD='{secret}'\n"),
        format!("SQLNET_SERVICE_BASE=user1/{secret}@db\n"),
        format!("{secret}\n"),
    ] {
        let output = match import(&file("slob.conf", &text), &on_sqlite()) {
            Ok(imported) => format!("{}{:?}", imported.text, imported.notes),
            Err(errors) => format!("{errors}{errors:?}"),
        };
        assert!(!output.contains(secret), "{text}\n{output}");
    }
    for connect in [
        format!("host=db1 password={secret} dbname=pgio"),
        format!("postgresql://pgio:{secret}@db1:5433/pgio?sslmode=require"),
        format!("postgresql://pgio@db1/pgio?password={secret}"),
        format!("--password {secret}"),
        format!("host=db1 passwort={secret}"),
    ] {
        let text = format!("NUM_SCHEMAS=1\nSCALE=1G\nCONNECT_STRING='{connect}'\n");
        let report = match import(&file("pgio.conf", &text), &anywhere()) {
            Ok(imported) => {
                assert_eq!(imported.plan.target.password_env.as_deref(), Some("DYNO_PASSWORD"), "{connect}");
                format!("{}{:?}", imported.text, imported.notes)
            }
            Err(errors) => format!("{errors}{errors:?}"),
        };
        assert!(!report.contains(secret), "{connect}\n{report}");
    }
}

#[test]
fn target_url_with_password_is_refused_by_slob_import() {
    let options = KitImportOptions { target: Some("postgres://u:hunter2@db1/x".into()), ..anywhere() };
    let errors = errors("UPDATE_PCT=120\n", &options);
    assert_eq!(errors.len(), 2, "{errors:#?}");
    assert!(errors[1].starts_with("--target: the URL contains a password"));
    assert!(!errors[1].contains("hunter2"));
}

#[test]
fn every_slob_conf_error_is_located() {
    for (line, start, words) in [
        ("UPDATE_PCT=101", "slob.conf:2:12: UPDATE_PCT = 101: out of range", "0 to 50, or 100"),
        ("UPDATE_PCT=51", "slob.conf:2:12: UPDATE_PCT = 51: not a share that SLOB takes", "0 to 50, or 100"),
        ("SCAN_PCT=-1", "slob.conf:2:10: SCAN_PCT = -1: not an integer", ""),
        ("RUN_TIME=29", "slob.conf:2:10: RUN_TIME = 29: out of range", "30 to 2,592,000"),
        ("RUN_TIME=5m", "slob.conf:2:10: RUN_TIME = 5m: not an integer", ""),
        ("WORK_UNIT=2", "slob.conf:2:11: WORK_UNIT = 2: out of range", "3 to 1,024"),
        ("WORK_UNIT=1025", "slob.conf:2:11: WORK_UNIT = 1025: out of range", ""),
        ("SCALE=9999", "slob.conf:2:7: SCALE = 9999: out of range", "10,000 blocks"),
        ("SCALE=78M", "slob.conf:2:7: SCALE = 78M: out of range", ""),
        ("SCALE=80m", "slob.conf:2:7: SCALE = 80m: not a size", "`80M`"),
        ("SCALE=1.5G", "slob.conf:2:7: SCALE = 1.5G: not a size", ""),
        ("SCALE=80MM", "slob.conf:2:7: SCALE = 80MM: not a size", ""),
        ("SCALE=M", "slob.conf:2:7: SCALE = M: not a size", ""),
        ("SCALE=99999999999999999999", "slob.conf:2:7: SCALE = 99999999999999999999: out of range", ""),
        ("SCALE=99999999999999T", "slob.conf:2:7: SCALE = 99999999999999T: out of range", ""),
        ("SCAN_TABLE_SZ=0", "slob.conf:2:15: SCAN_TABLE_SZ = 0: out of range", ""),
        ("REDO_STRESS=heavy", "slob.conf:2:13: REDO_STRESS = heavy: unknown value", "LITE or HEAVY"),
        ("DO_HOTSPOT=yes", "slob.conf:2:12: DO_HOTSPOT = yes: unknown value", "TRUE or FALSE"),
        ("THINK_TM_MIN=-1", "slob.conf:2:14: THINK_TM_MIN = -1: not a number of seconds", ""),
        ("THINK_TM_MAX=1h", "slob.conf:2:14: THINK_TM_MAX = 1h: not a number of seconds", ""),
        ("THINK_TM_MIN=3", "slob.conf:2:14: THINK_TM_MIN = 3: longer than THINK_TM_MAX, .5", ""),
        ("LOAD_PARALLEL_DEGREE=0", "slob.conf:2:22: LOAD_PARALLEL_DEGREE = 0: out of range", ""),
        ("THREADS_PER_SCHEMA=4097", "slob.conf:2:20: THREADS_PER_SCHEMA = 4097: out of range", ""),
        (
            "DATABASE_STATISTICS_TYPE=AWR",
            "slob.conf:2:26: DATABASE_STATISTICS_TYPE = AWR",
            "statspack or awr",
        ),
        (
            "SQLNET_SERVICE_MAX=2",
            "slob.conf:2:20: SQLNET_SERVICE_MAX = 2: SQLNET_SERVICE_BASE is not set",
            "",
        ),
        (
            "ADMIN_SQLNET_SERVICE=x",
            "slob.conf:2:22: ADMIN_SQLNET_SERVICE = x: SQLNET_SERVICE_BASE is not",
            "",
        ),
        ("SQLNET_SERVICE_MAX=0 SQLNET_SERVICE_BASE=x", "slob.conf:2:20: SQLNET_SERVICE_MAX = 0: out of", ""),
        ("BLOCK_SZ=2048", "slob.conf:2:10: BLOCK_SZ = 2048: not a block size", "4096"),
        (
            "DO_HOTSPOT=TRUE HOTSPOT_FREQUENCY=3 HOTSPOT_MB=79",
            "slob.conf:2:48: HOTSPOT_MB = 79: with",
            "raise SCALE",
        ),
        (
            "SHARED_DATA_MODULUS=3 HOT_SCHEMA_FREQUENCY=3",
            "slob.conf:2:21: SHARED_DATA_MODULUS = 3:",
            "keep one",
        ),
        ("EXTERNAL_SCRIPT='a\nb'", "slob.conf:2:17: EXTERNAL_SCRIPT = a\\nb: not the name of a script", ""),
        ("UPDAT_PCT=3", "slob.conf:2:1: UPDAT_PCT: SLOB has no such parameter", "did you mean UPDATE_PCT?"),
        (
            "NUM_SCHEMAS=3 SCAN_PCT=0 WORK_LOOP=0",
            "slob.conf:2:1: NUM_SCHEMAS: SLOB has no such parameter",
            "",
        ),
        ("WORK_UNIT=${WU:-64}", "slob.conf:2:11: WORK_UNIT: a variable is not understood", "write the value"),
        ("# ünü\n  WORK_UNIT=$WU", "slob.conf:3:13: WORK_UNIT: a variable is not", ""),
        ("source ./other.conf", "slob.conf:2:1: this is not an assignment", "export NAME=VALUE"),
    ] {
        let errors = errors(&format!("# first\n{line}\n"), &on_sqlite());
        let [error] = errors.as_slice() else { panic!("{line}: {errors:#?}") };
        assert!(error.starts_with(start), "{error}\nbegins not with {start}");
        assert!(error.contains(words), "{error}\nholds not {words}");
    }
    let all = errors("UPDATE_PCT=101\nSCALE=80Q\nFOO=1\nWORK_UNIT=`x`\nRUN_TIME=1\n", &on_sqlite());
    let lines: Vec<_> = all.iter().map(|error| error.split(':').nth(1).unwrap()).collect();
    assert_eq!(lines, ["1", "2", "3", "4", "5"], "{all:#?}");
}

#[test]
fn conflicting_values_name_their_parameter() {
    let options = KitImportOptions { schemas: Some(10_000), ..on_sqlite() };
    let errors = errors("SCALE=1000T\n", &options);
    assert!(errors[0].starts_with("slob.conf"), "{errors:#?}");
    assert!(errors.iter().any(|error| error.contains("SCALE") || error.contains("--schemas")), "{errors:#?}");
    let options = KitImportOptions { schemas: Some(100), ..on_sqlite() };
    let errors = self::errors("THREADS_PER_SCHEMA=41\n", &options);
    assert!(errors[0].contains("4100 sessions, more than SLOB's 4096"), "{errors:#?}");
}

#[test]
fn slob_conf_without_parameters_is_refused() {
    for text in ["", "\n\n", "# UPDATE_PCT=10\n", "export\n"] {
        let errors = errors(text, &on_sqlite());
        assert_eq!(errors.len(), 1, "{text:?}: {errors:#?}");
        assert!(errors[0].contains("no parameter of SLOB"), "{errors:#?}");
    }
}

#[test]
fn longest_run_keeps_one_second_interval() {
    let plan = plan("RUN_TIME=2592000\n");
    assert_eq!((plan.run.length(), plan.observe.interval.to_string()), (seconds(2_592_000), "1s".into()));
}

const PGIO: &str = "\
UPDATE_PCT=10
RUN_TIME=120
NUM_SCHEMAS=2
NUM_THREADS=4
WORK_UNIT=255
UPDATE_WORK_UNIT=8
SCALE=200M
DBNAME=pgio
CONNECT_STRING=\"pgio\"
CREATE_BASE_TABLE=TRUE
";

#[test]
fn pgio_file_is_recognized_by_its_parameters() {
    let pgio = import(&file("x.conf", PGIO), &anywhere()).unwrap();
    assert_eq!(pgio.kit, Kit::Pgio);
    let Plan { target, data, workload, run, .. } = &pgio.plan;
    assert_eq!(target.url.to_string(), "postgres://localhost/pgio");
    assert_eq!((data.schemas, data.scale.to_string(), data.load_parallel), (2, "200M".into(), 4));
    assert_eq!((workload.update_pct, workload.work_unit, workload.drive), (10, 255, DriveMode::Server));
    assert_eq!((run.sessions_per_schema, run.length()), (4, seconds(120)));
    let update = pgio.notes.iter().find(|note| note.parameter == "UPDATE_WORK_UNIT").unwrap();
    assert_eq!((update.fate, update.line), (ParameterMapping::None, Some(6)));
    // Parameters of both tools do not identify the tool: the file's name decides, and an option overrides both.
    let shared_parameters = "UPDATE_PCT=10\nWORK_UNIT=64\nSCALE=1G\n";
    for (name, kit, is) in [
        ("a/pgio.conf", None, Kit::Pgio),
        ("slob.conf", None, Kit::Slob),
        ("slob.conf", Some(Kit::Pgio), Kit::Pgio),
    ] {
        let options = KitImportOptions { kit, target: Some(SQLITE.into()), ..anywhere() };
        assert_eq!(import(&file(name, shared_parameters), &options).unwrap().kit, is, "{name}");
    }
}

#[test]
fn pgio_connection_string_becomes_url() {
    for (connect, url) in [
        ("bench", "postgres://localhost/bench"),
        ("bench alice", "postgres://alice@localhost/bench"),
        ("-h db1 -p 5433 -U alice bench", "postgres://alice@db1:5433/bench"),
        ("-hdb1 --port=5433 --username alice -d bench", "postgres://alice@db1:5433/bench"),
        ("host=db1 port=5433 user=alice dbname=bench connect_timeout=3", "postgres://alice@db1:5433/bench"),
        ("host=/run/postgresql dbname=bench", "postgres://%2Frun%2Fpostgresql/bench"),
        (
            "postgresql://alice@db1:5433/bench?sslmode=require",
            "postgres://alice@db1:5433/bench?sslmode=require",
        ),
        ("postgres://[::1]/bench", "postgres://[::1]/bench"),
        ("host=db1", "postgres://db1/other"),
    ] {
        let text = format!("DBNAME=other\nSCALE=1G\nCONNECT_STRING='{connect}'\n");
        let pgio =
            import(&file("pgio.conf", &text), &anywhere()).unwrap_or_else(|e| panic!("{connect}: {e}"));
        assert_eq!(pgio.plan.target.url, url.parse().unwrap(), "{connect}");
        assert_eq!(pgio.plan.target.password_env, None);
    }
    for connect in ["-x", "-h", "-p 0 x", "a b c", "mysql://x/y", "host=a b", "postgres://a:b:c:d/x"] {
        let text = format!("DBNAME=other\nSCALE=1G\nCONNECT_STRING='{connect}'\n");
        let errors = import(&file("pgio.conf", &text), &anywhere()).unwrap_err().to_string();
        assert!(errors.contains("CONNECT_STRING: not a connection that psql takes"), "{connect}: {errors}");
    }
}

#[test]
fn pgio_errors_name_their_position() {
    for (line, start) in [
        ("UPDATE_PCT=101", "pgio.conf:2:12: UPDATE_PCT = 101: out of range"),
        ("SCALE=1023", "pgio.conf:2:7: SCALE = 1023: out of range"),
        ("SCALE=1024 WORK_UNIT=1025", "pgio.conf:2:22: WORK_UNIT = 1025: one operation touches more rows"),
        ("REDO_STRESS=LITE", "pgio.conf:2:1: REDO_STRESS: pgio has no such parameter"),
    ] {
        let text = format!("NUM_SCHEMAS=1 NUM_THREADS=1\n{line}\n");
        let errors = import(&file("pgio.conf", &text), &anywhere()).unwrap_err().to_string();
        assert!(errors.starts_with(start), "{line}: {errors}");
        assert!(errors.lines().count() == 1, "{line}: {errors}");
    }
    // pgio allows larger shares than SLOB.
    let text = "NUM_SCHEMAS=1\nUPDATE_PCT=75\n";
    assert_eq!(import(&file("pgio.conf", text), &anywhere()).unwrap().plan.workload.update_pct, 75);
}

#[test]
fn every_slob_and_pgio_parameter_is_documented() {
    let page = include_str!("../../../../docs/start/from-slob.md");
    for kit in [Kit::Slob, Kit::Pgio] {
        for name in parameters(kit) {
            assert!(page.contains(&format!("| `{name}` |")), "{name} of {} is not in the table", kit.name());
        }
    }
    assert!(slob::ONLY.iter().all(|name| parameters(Kit::Slob).contains(name)));
    assert!(ONLY_PGIO.iter().all(|name| parameters(Kit::Pgio).contains(name)));
}

#[test]
fn unsupported_lines_are_refused_or_skipped_with_a_report() {
    let text = "UPDATE_PCT=20\nRUN_TIME=60\nADMIN_SQLNET_SERVICE=$tns\nsource ./other.conf\nUPDATE_PTC=30\nWORK_UNIT=64\n";
    let strict = errors(text, &on_sqlite());
    assert_eq!(strict.len(), 3, "{strict:#?}");
    for (error, place) in strict.iter().zip(["slob.conf:3:", "slob.conf:4:", "slob.conf:5:"]) {
        assert!(error.starts_with(place), "{error}");
    }
    assert!(strict[2].contains("did you mean UPDATE_PCT?"), "{strict:#?}");
    let lenient = imported(text, &KitImportOptions { lenient: true, ..on_sqlite() });
    assert_eq!((lenient.plan.workload.update_pct, lenient.plan.workload.work_unit), (20, 64));
    let skipped_errors: Vec<String> = lenient.skipped.errors.iter().map(ToString::to_string).collect();
    assert_eq!(skipped_errors, strict, "skipped lines are reported in the same words");
    for line in 3..=5 {
        assert!(lenient.text.contains(&format!("# Left out: slob.conf:{line}: ")), "{}", lenient.text);
    }
    // An invalid value is always an error: ignoring it would measure something else.
    assert_eq!(errors("UPDATE_PCT=200\n", &KitImportOptions { lenient: true, ..on_sqlite() }).len(), 1);
}
