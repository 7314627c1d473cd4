//! `dyno import slob`: from another tool's configuration to a run.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use serde_json::Value;

const SLOB: &str = "#### SLOB 2.5.4.0 slob.conf\nUPDATE_PCT=20\nRUN_TIME=30\nSCALE=10000 # blocks\nSCAN_TABLE_SZ=1M\nWORK_UNIT=8\n\
                    SYSDBA_PASSWD='hunter2'\nTHREADS_PER_SCHEMA=2\n";

#[test]
fn imported_slob_conf_is_checked_loaded_and_run() {
    let desk = TestEnv::new();
    desk.write("slob.conf", SLOB);
    let import_output = desk.dyno(&[
        "import",
        "slob",
        "slob.conf",
        "-o",
        "dyno.toml",
        "--target",
        "sqlite:bench.db",
        "-s",
        "2",
    ]);
    assert_eq!(import_output.code, 0, "{import_output:#?}");
    assert!(import_output.err.contains("wrote dyno.toml from SLOB"), "{}", import_output.err);
    let plan = std::fs::read_to_string(desk.file("dyno.toml")).unwrap();
    assert!(plan.contains("# slob.conf:2: UPDATE_PCT=20"), "{plan}");
    assert!(!plan.contains("hunter2"));
    assert!(!import_output.err.contains("hunter2"));
    for command in [&["check"][..], &["load"], &["run", "--set", "run.time=1s", "--set", "run.warmup=0s"]] {
        let output = desk.dyno(command);
        assert_eq!(output.code, 0, "{command:?}: {output:#?}");
    }
    let shown = desk.dyno(&["show", "--json"]);
    let record: Value = serde_json::from_str(&shown.out).unwrap();
    let record = record.as_array().map_or(&record, |records| &records[0]);
    assert_eq!(record["plan"]["data"]["schemas"], 2);
    assert_eq!(record["plan"]["run"]["sessions_per_schema"], 2);
    assert_eq!(record["plan"]["workload"]["work_unit"], 8);
}

#[test]
fn imported_plan_is_printed_without_an_output_file() {
    let desk = TestEnv::new();
    desk.write("pgio.conf", "UPDATE_PCT=10\nNUM_SCHEMAS=2\nNUM_THREADS=4\nSCALE=1G\nCONNECT_STRING=\"host=db1 password=hunter2\"\n");
    let plan_output = desk.dyno(&["import", "slob", "pgio.conf"]);
    assert_eq!(plan_output.code, 0, "{plan_output:#?}");
    assert!(plan_output.out.contains("url = \"postgres://db1/pg10\""), "{}", plan_output.out);
    assert!(!plan_output.out.contains("hunter2"), "{}", plan_output.out);
    let json_output = desk.dyno(&["import", "slob", "pgio.conf", "--json"]);
    let json: Value = serde_json::from_str(&json_output.out).unwrap();
    assert_eq!(json["kit"], "pgio");
    let share = json["parameters"].items().iter().find(|note| note["parameter"] == "UPDATE_PCT");
    assert_eq!(share.unwrap()["key"], "workload.update_pct");
    assert_eq!(share.unwrap()["fate"], "maps");
}

#[test]
fn import_slob_locates_every_error_and_writes_nothing() {
    let desk = TestEnv::new();
    desk.write("slob.conf", "UPDATE_PCT=101\nWORK_UNIT=${WU:-64}\nSCALE=80Q\nFOO=secret\n");
    let output = desk.dyno(&["import", "slob", "slob.conf", "-o", "dyno.toml", "--target", "sqlite:x.db"]);
    assert_eq!(output.code, 2, "{output:#?}");
    for place in [
        "slob.conf:1:12: UPDATE_PCT",
        "slob.conf:2:11: WORK_UNIT",
        "slob.conf:3:7: SCALE",
        "slob.conf:4:1: FOO",
    ] {
        assert!(output.err.contains(&format!("error: {place}")), "{place} in\n{}", output.err);
    }
    assert!(!output.err.contains("secret"), "{}", output.err);
    assert!(!desk.file("dyno.toml").exists());
}

#[test]
fn existing_plan_is_kept_by_slob_import() {
    let desk = TestEnv::new();
    desk.write("slob.conf", SLOB);
    desk.write("dyno.toml", "mine");
    let import = ["import", "slob", "slob.conf", "-o", "dyno.toml", "--target", "sqlite:x.db"];
    let command_output = desk.dyno(&import);
    assert_eq!(command_output.code, 2);
    assert!(command_output.err.contains("--output FILE writes another"), "{}", command_output.err);
    assert_eq!(std::fs::read_to_string(desk.file("dyno.toml")).unwrap(), "mine");
    assert_eq!(desk.dyno(&[&import[..], &["--force"]].concat()).code, 0);
}

#[test]
fn slob_import_refuses_unrelated_options() {
    let desk = TestEnv::new();
    desk.write("slob.conf", SLOB);
    let set_output = desk.dyno(&["import", "slob", "slob.conf", "--set", "run.time=5s"]);
    assert_eq!(set_output.code, 2);
    assert!(set_output.err.contains("--set is not allowed with import slob"), "{}", set_output.err);
    assert_eq!(desk.dyno(&["import", "slob", "none.conf"]).code, 2);
    assert_eq!(desk.dyno(&["import", "slob", "slob.conf", "--kit", "swingbench"]).code, 2);
    let url_output = desk.dyno(&["import", "slob", "slob.conf", "--target", "postgres://u:hunter2@h/d"]);
    assert_eq!(url_output.code, 2);
    assert!(!url_output.err.contains("hunter2"), "{}", url_output.err);
}

#[test]
fn unknown_slob_conf_lines_are_errors_unless_lenient() {
    let desk = TestEnv::new();
    desk.write("slob.conf", "UPDATE_PCT=20\nRUN_TIME=30\nADMIN_SQLNET_SERVICE=$tns\n./prepare.sh\n");
    let args = ["import", "slob", "slob.conf", "--target", "sqlite:bench.db"];
    let strict_output = desk.dyno(&args);
    assert_eq!(strict_output.code, 2, "{strict_output:#?}");
    for part in ["slob.conf:3:", "ADMIN_SQLNET_SERVICE", "slob.conf:4:", "--lenient"] {
        assert!(strict_output.err.contains(part), "{strict_output:#?}");
    }
    let lenient_output = desk.dyno(&[&args[..], &["--lenient", "-o", "dyno.toml"]].concat());
    assert_eq!(lenient_output.code, 0, "{lenient_output:#?}");
    assert!(lenient_output.err.contains("warning: skipped: slob.conf:3:"), "{lenient_output:#?}");
    assert!(lenient_output.err.contains("slob.conf:4:"), "{lenient_output:#?}");
    assert!(std::fs::read_to_string(desk.file("dyno.toml")).unwrap().contains("# Left out: slob.conf:3:"));
}
