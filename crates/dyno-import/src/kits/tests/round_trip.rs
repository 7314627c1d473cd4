//! Property tests of imports: assignments in every spelling that a shell allows, and broken files.

use proptest::prelude::*;

use super::*;

/// The assignments of a file, independent of their spelling.
#[derive(Debug, Clone)]
struct Said {
    update_pct: u64,
    scan_pct: u64,
    run_time: u64,
    work_loop: u64,
    scale: (u64, &'static str),
    work_unit: u64,
    heavy: bool,
    load_parallel: u64,
    threads: u64,
    obfuscate: bool,
}

fn share() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..=50, Just(100)]
}

prop_compose! {
    fn said()(
        shares in (share(), share()),
        run_time in 30u64..=100_000,
        work_loop in prop_oneof![Just(0), 1u64..=1_000_000_000],
        scale in prop_oneof![
            (10_000u64..=1_000_000_000).prop_map(|n| (n, "")),
            (80u64..=1_000_000).prop_map(|n| (n, "M")),
            (1u64..=1_000).prop_map(|n| (n, "G")),
            Just((1, "T")),
        ],
        work_unit in 3u64..=1_024,
        heavy: bool,
        load_parallel in 1u64..=256,
        threads in 1u64..=4_096,
        obfuscate: bool,
    ) -> Said {
        let (update_pct, scan_pct) = shares;
        Said { update_pct, scan_pct, run_time, work_loop, scale, work_unit, heavy, load_parallel, threads, obfuscate }
    }
}

/// One spelling of an assignment.
#[derive(Debug, Clone, Copy)]
struct Style {
    quote: u8,
    export: bool,
    comment: u8,
    end: u8,
    indent: u8,
}

prop_compose! {
    fn style()(quote in 0u8..5, export: bool, comment in 0u8..4, end in 0u8..4, indent in 0u8..3) -> Style {
        Style { quote, export, comment, end, indent }
    }
}

fn written(name: &str, value: &str, style: Style) -> String {
    let value = match style.quote {
        0 => value.to_owned(),
        1 => format!("'{value}'"),
        2 => format!("\"{value}\""),
        3 => value.chars().map(|c| format!("\\{c}")).collect(),
        _ => format!("{}''\"{}\"", &value[..1], &value[1..]),
    };
    let indent = ["", "  ", "\t"][usize::from(style.indent)];
    let export = if style.export { "export " } else { "" };
    let comment = ["", " # it's a \"comment\"", "   # NAME=${x}", ""][usize::from(style.comment)];
    // After a semicolon or a blank the next assignment is on the same line, so no comment may come before it.
    let end = ["\n", "\r\n", ";", "\n\n#### more\n"][usize::from(style.end)];
    let comment = if end == ";" { "" } else { comment };
    format!("{indent}{export}{name}={value}{comment}{end}")
}

fn lines(parameters: &Said) -> Vec<(&'static str, String)> {
    let flag = |flag: bool| if flag { "TRUE" } else { "FALSE" }.to_owned();
    vec![
        ("UPDATE_PCT", parameters.update_pct.to_string()),
        ("SCAN_PCT", parameters.scan_pct.to_string()),
        ("RUN_TIME", parameters.run_time.to_string()),
        ("WORK_LOOP", parameters.work_loop.to_string()),
        ("SCALE", format!("{}{}", parameters.scale.0, parameters.scale.1)),
        ("WORK_UNIT", parameters.work_unit.to_string()),
        ("REDO_STRESS", if parameters.heavy { "HEAVY" } else { "LITE" }.to_owned()),
        ("LOAD_PARALLEL_DEGREE", parameters.load_parallel.to_string()),
        ("THREADS_PER_SCHEMA", parameters.threads.to_string()),
        ("OBFUSCATE_COLUMNS", flag(parameters.obfuscate)),
    ]
}

proptest! {
    #[test]
    fn slob_conf_spelling_does_not_change_plan(
        said in said(),
        styles in proptest::collection::vec(style(), 10),
        order in Just((0..10usize).collect::<Vec<_>>()).prop_shuffle(),
        stale in proptest::option::of(0usize..10),
    ) {
        let lines = lines(&said);
        // A later line replaces this value: the last assignment wins.
        let mut text = stale.map_or_else(String::new, |i| format!("{}=-\n", lines[i].0));
        for i in order {
            text.push_str(&written(lines[i].0, &lines[i].1, styles[i]));
        }
        let plan = plan(&text);
        let work = &plan.workload;
        prop_assert_eq!(u64::from(work.update_pct), said.update_pct);
        prop_assert_eq!(u64::from(work.scan_pct), said.scan_pct);
        prop_assert_eq!(u64::from(work.work_unit), said.work_unit);
        prop_assert_eq!(work.redo, if said.heavy { Redo::Heavy } else { Redo::Lite });
        let length = if said.work_loop > 0 { Length::Ops(said.work_loop) } else { seconds(said.run_time) };
        prop_assert_eq!(plan.run.length(), length);
        let size = match said.scale {
            (blocks, "") => format!("{blocks} blocks"),
            (count, unit) => format!("{count}{unit}"),
        };
        prop_assert_eq!(plan.data.scale, size.parse().unwrap());
        prop_assert_eq!(u64::from(plan.data.load_parallel), said.load_parallel);
        prop_assert_eq!(u64::from(plan.run.sessions_per_schema), said.threads);
    }

    /// An accepted file makes a plan that reads back as itself, and no password gets into it.
    #[test]
    fn unit_parsers_never_panic_on_any_text(
        parts in proptest::collection::vec(prop_oneof![
            proptest::sample::select(super::super::parameters(Kit::Slob)).prop_map(str::to_owned),
            proptest::sample::select(super::super::parameters(Kit::Pgio)).prop_map(str::to_owned),
            proptest::sample::select(vec![
                "=", "=", "=", "\n", "\n", "\n", " ", "'", "\"", "\\", "#", ";", "export ", "${", "$", "`", "80M", "10000", "64",
                "TRUE", "FALSE", "0", "30", "LITE", "awr", ".5", "~", "host=x", "-h ", "//db:1521/x", "\r", "\u{feff}", "\0",
            ]).prop_map(str::to_owned),
            "\\PC{0,6}",
        ], 0..40),
        kit in prop_oneof![Just(None), Just(Some(Kit::Slob)), Just(Some(Kit::Pgio))],
        target in proptest::option::of(Just(SQLITE.to_owned())),
    ) {
        let text = format!("{}\nSYSDBA_PASSWD='hunter2'\n", parts.concat());
        let options = KitImportOptions { kit, target, ..anywhere() };
        let output = match import(&file("slob.conf", &text), &options) {
            Ok(imported) => {
                prop_assert_eq!(&check(&imported.text, ENGINES).unwrap(), &imported.plan);
                imported.text
            }
            Err(errors) => errors.to_string(),
        };
        prop_assert!(!output.contains("hunter2"), "{}", output);
    }

    #[test]
    fn connect_string_import_never_panics_and_round_trips(connect in "[-a-z0-9:/@=?&%' \\[\\].]{0,40}", name in "\\PC{0,10}") {
        let connect = connect.replace('\'', "");
        let name = name.replace('\'', "");
        let text = format!("NUM_SCHEMAS=1\nDBNAME='{name}'\nCONNECT_STRING='{connect}'\n");
        if let Ok(imported) = import(&file("pgio.conf", &text), &anywhere()) {
            prop_assert_eq!(check(&imported.text, ENGINES).unwrap(), imported.plan);
        }
    }
}
