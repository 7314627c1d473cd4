//! Generates the plan reference, `docs/reference/plan.md`, from the list of keys.

use crate::engine::Engines;
use crate::keys::{Fallback, PlanKey, PlanKeyKind, PlanSection, SECTIONS};

const INTRO: &str = r#"# The plan

<!-- Made from the list of keys in crates/dyno-plan/src/keys. To change it, change them, then run
     DYNO_BLESS=1 cargo test -p dyno-plan reference -->

A plan says which database is measured, with which data, under which load, and for how long. It is a TOML file;
`dyno init --full` writes one with every key explained, and `dyno check` says whether it is valid and the database is ready
for it. Only `target.url` is required: every other key has a default.

```toml
"#;

const SOURCES: &str = r#"```

## Where values come from

| source | wins over |
| --- | --- |
| `--target URL` | all others, for `target.url` |
| `--set SECTION.KEY=VALUE`, as often as needed; the last one of a key counts | the file, the defaults |
| the file: `--plan FILE`, or `dyno.toml` | the defaults |
| the defaults below | |

`--set` takes any key of the tables below, without quotes around the value: `--set data.scale=80M --set run.time=5m`.
Of `run.time` and `run.ops_per_session` a plan has one. `--set` of one takes out what the file says of the other;
both in the file, or both in options, is an error. The same holds for the two keys of the password.

All errors of file and options are reported together, each with line and column, key, value and what is allowed:

```
"#;

const PASSWORDS: &str = r#"```

## Passwords

A plan, a URL, a record and a log never hold a password; a URL with one is refused. The first of these that is there
gives it:

1. `target.password_env`: the environment variable of this name;
2. `target.password_file`: the first line of this file;
3. PostgreSQL's own places: the service (`service` of the URL or `PGSERVICE`), the environment variable `PGPASSWORD`,
   then the file that `passfile` or `PGPASSFILE` names, or `~/.pgpass`; MySQL's: option files such as `~/.my.cnf`, then
   `MYSQL_PWD`; Oracle has none;
4. the prompt, if Dyno runs in a terminal and the server asks for a password.

## How values are written

| type | written as |
| --- | --- |
| integer | `64`, or `"64"` |
| size | a text: blocks (`"10000 blocks"`), or bytes with a binary suffix (`"80M"`, `"1.5G"`, `"12345B"`); a bare number is blocks |
| bytes | a text with a binary suffix (`"8K"`), or a bare number |
| duration | a text: a number with `ms`, `s`, `m` or `h` (`"500ms"`, `"1.5s"`, `"5m"`); a bare number is an error |
| rate | a text: a number per second (`"5000/s"`, `"0.5/s"`), or `"off"`; a bare number is an error |
| word, text, URL | a text |

`K`, `M`, `G` and `T` are powers of 1,024: `8K` is 8,192 bytes. Capital or small letters, and a `B` or `iB` behind, make no
difference.
"#;

/// The complete example at the top of the reference.
pub const EXAMPLE: &str = r#"version = 1

[target]
url = "postgres://dyno@db1:5432/bench?sslmode=verify-full"
password_env = "DYNO_PASSWORD"

[data]
schemas = 4
scale = "20G"              # per schema: larger than the server's memory, to measure storage
load_parallel = 4

[workload]
update_pct = 20
work_unit = 64
rate = "2000/s"            # open loop; leave it out for closed loop

[run]
sessions_per_schema = 16
warmup = "1m"
time = "10m"

[observe]
interval = "1s"
"#;

/// A plan with typos that shows what errors look like.
const SLIPS: &str =
    "[target]\nurl = \"sqlite:dyno.db\"\n\n[data]\nscale = \"80Q\"\nschema = 4\n\n[run]\ntime = 30\n";

/// The reference in Markdown; `engines` are used to read its examples.
pub fn markdown(engines: Engines) -> String {
    let mut out = format!("{INTRO}{EXAMPLE}{SOURCES}{}\n{PASSWORDS}", slips(engines));
    for section in &SECTIONS {
        write_section(&mut out, section);
    }
    out
}

/// The errors from reading [`SLIPS`].
fn slips(engines: Engines) -> String {
    let file = crate::PlanFile { name: "dyno.toml".into(), text: SLIPS.into() };
    let source = crate::PlanSource { file: Some(file), ..crate::PlanSource::of(engines) };
    crate::read(&source).map_or_else(|errors| errors.to_string(), |_| String::new())
}

fn write_section(out: &mut String, section: &PlanSection) {
    let heading = match section.name {
        "" => format!("\n## The top of the file: {}\n\n", section.title),
        name => format!("\n## `[{name}]`: {}\n\n{}\n\n", section.title, section.doc),
    };
    out.push_str(&heading);
    out.push_str("| key | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n");
    for key in section.keys {
        out.push_str(&row(key));
    }
}

fn row(key: &PlanKey) -> String {
    let default = match key.default {
        Fallback::Value(value) => format!("`{}`", key.kind.toml(value)),
        Fallback::None(words) => words.to_owned(),
        Fallback::Required => "required".to_owned(),
    };
    let words = match &key.kind {
        PlanKeyKind::Word(words, _) => {
            words.iter().map(|(word, means)| format!(" `{word}`: {means}.")).collect()
        }
        _ => String::new(),
    };
    let more = if key.more.is_empty() { String::new() } else { format!(" {}", key.more) };
    let (name, kind, doc) = (key.name(), key.kind.type_words(), key.doc);
    let (allowed, example) = (key.limits(), key.kind.toml(key.example));
    format!("| `{name}` | {kind} | {default} | {allowed} | {doc}{words}{more} Example: `{example}` |\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{ENGINES, nothing};

    #[test]
    fn plan_reference_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/plan.md");
        if std::env::var_os("DYNO_BLESS").is_some() {
            std::fs::write(path, markdown(ENGINES)).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == markdown(ENGINES),
            "docs/reference/plan.md is not what the list of keys says; run: DYNO_BLESS=1 cargo test -p dyno-plan reference"
        );
    }

    #[test]
    fn reference_example_is_a_valid_plan() {
        let file = crate::PlanFile { name: "plan.md".into(), text: EXAMPLE.into() };
        let plan = crate::read(&crate::PlanSource { file: Some(file), ..nothing() }).unwrap();
        assert_eq!((plan.data.schemas, plan.run.sessions_per_schema), (4, 16));
    }

    #[test]
    fn reference_cell_text_cannot_end_its_table_row() {
        let text = markdown(ENGINES);
        for row in text.lines().filter(|line| line.starts_with("| `")) {
            let cells = row.matches(" | ").count() + 1;
            assert!(cells == 5 || cells == 2, "{row}");
            assert_eq!(row.matches('|').count(), cells + 1, "{row}");
        }
    }
}
