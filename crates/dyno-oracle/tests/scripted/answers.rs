//! A script that answers the engine's statements: a database with one test table of 500 rows.

use std::time::Duration;

use dyno_engine::{OpenOptions, Secret, Target};
use dyno_testbed::{
    ScriptedAnswer, ScriptedCall, ScriptedOptions, ScriptedOracle, ScriptedRelease, ScriptedType,
    ScriptedValue,
};

use ScriptedAnswer::{Changed, Done, Refused, Returned, Rows};
use ScriptedType::{Number, Text};
use ScriptedValue::{Int, Null};

/// Rows of one column with this name.
pub(crate) fn column(name: &'static str, kind: ScriptedType, values: Vec<ScriptedValue>) -> ScriptedAnswer {
    Rows { columns: vec![(name, kind)], rows: values.into_iter().map(|value| vec![value]).collect() }
}

pub(crate) fn text(text: &str) -> ScriptedValue {
    ScriptedValue::Text(text.to_owned())
}

fn int_value(value: &ScriptedValue) -> Option<i64> {
    match value {
        Int(number) => Some(*number),
        _ => None,
    }
}

/// The numbers that a block returns in its last binds, in order.
fn out_binds(sql: &str) -> Vec<&str> {
    sql.lines()
        .filter_map(|line| line.trim().strip_prefix(':')?.split_once(" := ").map(|(name, _)| name))
        .collect()
}

/// The scripted result of a statement with these binds.
pub(crate) fn answer(sql: &str, executions: &[Vec<ScriptedValue>]) -> ScriptedAnswer {
    let words = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let (says, begins) = (|part: &str| words.contains(part), |part: &str| words.starts_with(part));
    let binds = &executions[0];
    let is_null = binds.first() == Some(&Null);
    if says("long_text VARCHAR2(32767)") || begins("ALTER SESSION") || begins("SET TRANSACTION") {
        return Done;
    }
    if says("SYS_CONTEXT('USERENV', 'SESSION_USER') AS session_user") {
        let names = [
            "SESSION_USER",
            "CURRENT_SCHEMA",
            "DB_NAME",
            "DB_UNIQUE_NAME",
            "CDB_NAME",
            "CON_NAME",
            "CON_ID",
            "SERVICE_NAME",
            "INSTANCE_NAME",
            "SERVER_HOST",
            "NETWORK_PROTOCOL",
            "DATABASE_ROLE",
            "SID",
        ];
        let values = [
            "DYNO", "DYNO", "ORCL", "ORCL", "ORCL", "BENCH", "3", "bench", "orcl1", "dbhost", "tcp",
            "PRIMARY", "77",
        ];
        let columns = names.map(|name| (name, Text)).to_vec();
        return Rows { columns, rows: vec![values.map(text).to_vec()] };
    }
    if says("banner_full") {
        let banner =
            "Oracle Database 19c Standard Edition 2 Release 19.0.0.0.0 - Production\nVersion 19.21.0.0.0";
        return column("BANNER_FULL", Text, vec![text(banner)]);
    }
    if says("FROM v$parameter") {
        let columns = vec![("NAME", Text), ("VALUE", Text), ("ISDEFAULT", Text)];
        let parameter = |name, value, is_default| vec![text(name), value, text(is_default)];
        let rows = vec![
            parameter("sga_target", text("1073741824"), "FALSE"),
            parameter("commit_wait", Null, "TRUE"),
        ];
        return Rows { columns, rows };
    }
    if begins("HANG") {
        return ScriptedAnswer::Hang;
    }
    if begins("DECLARE") {
        let length = match &binds[0] {
            ScriptedValue::Text(list) => list.len() as i64,
            _ => 0,
        };
        let numbers = match out_binds(sql)[..] {
            ["selected"] => vec![if length > 1 { length / 12 * 64 } else { 0 }],
            ["updated", "commits"] => vec![length / 42 * 64, length / 42],
            ref names => vec![0; names.len()],
        };
        return Returned(numbers.into_iter().map(Int).collect());
    }
    if says("COUNT(c2) AS row_count") {
        let count =
            int_value(&binds[0]).zip(int_value(&binds[1])).map_or(0, |(first, last)| last - first + 1);
        return column("ROW_COUNT", Number, vec![Int(count)]);
    }
    if begins("SELECT /*+ INDEX") && says(" c2 FROM") {
        return column("C2", Text, if is_null { Vec::new() } else { vec![text(&"x".repeat(128))] });
    }
    if begins("SELECT custid FROM many") {
        return column("CUSTID", Number, if is_null { Vec::new() } else { (0..100).map(Int).collect() });
    }
    if begins("UPDATE") {
        let last = binds.len() - 1;
        let rows = int_value(&binds[last])
            .zip(int_value(&binds[last - 1]))
            .map_or(0, |(last, first)| last - first + 1);
        return Changed(rows as u64);
    }
    if begins("SELECT") {
        return column("N", Number, vec![Int(1)]);
    }
    Refused(900, "ORA-00900: invalid SQL statement\n")
}

/// A server with this database; `more` results are tried before its own.
pub(crate) fn server(
    options: ScriptedOptions,
    more: impl Fn(ScriptedCall<'_>) -> Option<ScriptedAnswer> + Send + Sync + 'static,
) -> ScriptedOracle {
    ScriptedOracle::start(options, move |call| {
        more(call).unwrap_or_else(|| answer(call.sql, call.executions))
    })
}

/// Runs `test` with the options of a scripted server of each release.
#[allow(clippy::print_stdout, reason = "shown where the test fails")]
pub(crate) fn each_release(test: impl Fn(ScriptedOptions)) {
    for release in ScriptedRelease::ALL {
        println!("release {release:?}");
        test(ScriptedOptions::of(release));
    }
}

/// The server as a target.
pub(crate) fn target(server: &ScriptedOracle, parameters: &str) -> Box<dyn Target> {
    let options = OpenOptions {
        password: Some(Secret::new("secret".to_owned())),
        connect_timeout: Duration::from_secs(10),
    };
    dyno_oracle::open(&format!("{}{parameters}", server.url()).parse().unwrap(), &options).unwrap()
}
