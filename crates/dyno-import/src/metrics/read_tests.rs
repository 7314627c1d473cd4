//! Tests with exports of common layouts, and with malformed ones.

use proptest::prelude::*;

use super::*;

fn of(text: &str) -> Result<FileMetrics, String> {
    let options = MetricReadOptions {
        moments: MomentStyle { zone: Some(TimeZone::UTC), order: None },
        ..MetricReadOptions::default()
    };
    read(text.as_bytes(), &options).map_err(|error| error.to_string())
}

fn key(name: &str, instance: &str, statistic: &str) -> MetricKey {
    MetricKey { name: name.into(), instance: instance.into(), statistic: statistic.into() }
}

#[test]
fn metrics_csv_with_one_value_per_row_is_read() {
    let all = of("\u{feff}time,metric,statistic,value,unit,instance,period\r\n\
                  2026-11-25T08:01:00Z,CPUUtilization,Average,12.5,Percent,db1,60\r\n\
                  2026-11-25T08:00:00Z,CPUUtilization,Average,10,Percent,db1,60\r\n\
                  2026-11-25T08:00:00Z,ReadIOPS,Average,,Count/Second,db1,60\r\n\
                  2026-11-25T08:00:00Z,CPUUtilization,Maximum,99,Percent,db1,60\r\n")
    .unwrap();
    let mean = &all[&key("CPUUtilization", "db1", "Average")];
    assert_eq!(mean.points, [(1_795_593_600.0, 10.0), (1_795_593_660.0, 12.5)], "in the order of time");
    assert_eq!((mean.unit.as_str(), mean.period_s), ("Percent", Some(60.0)));
    assert_eq!(all.len(), 2, "what is empty is nothing: {all:?}");
}

#[test]
fn metric_csv_columns_may_be_statistics_or_metrics() {
    let options = MetricReadOptions {
        moments: MomentStyle { zone: None, order: None },
        metric: Some("ReadIOPS".into()),
        ..MetricReadOptions::default()
    };
    let text = "Timestamp,Average,Maximum,Unit\n2026-11-25T08:00:00+00:00,1,2,Count/Second\n";
    let all = read(text.as_bytes(), &options).unwrap();
    assert_eq!(all[&key("ReadIOPS", "", "Maximum")].points, [(1_795_593_600.0, 2.0)]);

    let all = of(
        "Full label,db1 CPUUtilization,db1 ReadIOPS\nLabel,CPUUtilization,ReadIOPS\nStatistic,Average,Sum\n\
                  Period,300,300\nRegion,eu,eu\n2026/11/25 08:00:00,3.5,\n2026/11/25 08:05:00,4,77\n",
    )
    .unwrap();
    assert_eq!(all[&key("CPUUtilization", "", "Average")].points.len(), 2);
    let reads = &all[&key("ReadIOPS", "", "Sum")];
    assert_eq!((reads.period_s, reads.points.len()), (Some(300.0), 1));
}

#[test]
fn metric_file_errors_name_the_line() {
    for (text, words) in [
        ("", "line 1: there is no line with a time"),
        ("time,value\n", "no line with a time"),
        ("2026-11-25T08:00:00Z,1\n", "line 1: there is no line above it that names the columns"),
        (
            "time,metric,value\n2026-11-25T08:00:00Z,CPU,1\n2026-11-25T08:0",
            "line 3: 1 cells under 3 columns: the file may be truncated",
        ),
        ("time,metric,value\n2026-11-25T08:00:00Z,CPU,\"1\n", "line 2: a quotation mark is not closed"),
        ("time,metric,value\n2026-11-25T08:00:00Z,CPU,1 %\n", "line 2: \"1 %\" under CPU is not a number"),
        ("time,metric,value\n2026-11-25T08:00:00Z,CPU,NaN\n", "is not a number"),
        (
            "time,metric,value\n01/02/2026 08:00,CPU,1\n",
            "line 2: the date \"01/02/2026 08:00\" may mean two days",
        ),
        ("time,value\n2026-11-25T08:00:00Z,1\n", "--metric NAME"),
        (
            "time,metric,value\n2026-11-25T08:00:00Z,CPU,1\n2026-11-25T08:00:00Z,CPU,2\n",
            "1 on line 2, for the same time",
        ),
        (
            "time,metric,value,unit\n2026-11-25T08:00:00Z,CPU,1,Percent\n2026-11-25T08:01:00Z,CPU,2,Count\n",
            "line 3: the unit of CPU",
        ),
        ("time,metric,value,period\n2026-11-25T08:00:00Z,CPU,1,soon\n", "not the length of a period"),
        ("time,CPU,\n2026-11-25T08:00:00Z,1,2\n", "in a column without a name"),
        ("time,CPU\n2026-11-25T08:00:00Z,\n", "all of its values are empty"),
    ] {
        let error = of(text).unwrap_err();
        assert!(error.contains(words), "{text:?}: {error}");
    }
    let options = MetricReadOptions::default();
    let error = read("time,CPU\n2026-11-25 08:00:00,1\n".as_bytes(), &options);
    assert!(error.is_err(), "a time without a zone needs one: {error:?}");
}

proptest! {
    #[test]
    fn host_spec_parser_survives_any_text(text in "(time|Label|metric|value|unit|,|\n|\"|2026-11-25T08:00:00Z|1795593600|[0-9.eE+-]{1,6}|\\PC{0,5}){0,40}") {
        if let Ok(all) = of(&text) {
            for values in all.values() {
                prop_assert!(values.points.iter().all(|(at_s, value)| at_s.is_finite() && value.is_finite()));
                prop_assert!(values.points.windows(2).all(|two| two[0].0 < two[1].0));
            }
        }
    }

    #[test]
    fn written_metrics_csv_reads_back(
        values in prop::collection::btree_map((0usize..3, 0i64..2_000_000), -1e12f64..1e12, 1..50),
        wide in any::<bool>(),
        offset in -14i64..=14,
    ) {
        let names = ["CPUUtilization", "Read, IOPS", "\"x\""];
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let time = |at: i64| {
            let local = jiff::Timestamp::from_second(1_795_593_600 + at + offset * 3_600).unwrap();
            let civil = local.to_zoned(TimeZone::UTC).datetime();
            format!("{}{}{:02}:00", civil, if offset < 0 { '-' } else { '+' }, offset.abs())
        };
        let mut text = String::new();
        if wide {
            text += &format!("time,{}\n", names.map(quoted).join(","));
            let times: std::collections::BTreeSet<i64> = values.keys().map(|(_, at)| *at).collect();
            for at in times {
                let cells = [0, 1, 2].map(|name| values.get(&(name, at)).map(f64::to_string).unwrap_or_default());
                text += &format!("{},{}\n", time(at), cells.join(","));
            }
        } else {
            text += "value,metric,time\n";
            for ((name, at), value) in &values {
                text += &format!("{value},{},{}\n", quoted(names[*name]), time(*at));
            }
        }
        let all = of(&text).unwrap();
        for ((name, at), value) in &values {
            let points = &all[&key(names[*name], "", "")].points;
            prop_assert!(points.contains(&((1_795_593_600 + at) as f64, *value)), "{text}");
        }
        prop_assert_eq!(all.values().map(|values| values.points.len()).sum::<usize>(), values.len());
    }
}

#[test]
fn csv_with_other_separator_and_decimal_mark_is_read() {
    let options = MetricReadOptions {
        separator: b';',
        decimal: Some(DecimalMark::Comma),
        moments: MomentStyle { zone: Some(TimeZone::UTC), order: Some(DateOrder::DayMonth) },
        metric: None,
    };
    let all = read("time;metric;value\n25/11/2026 08:00;CPU;1.234,5\n".as_bytes(), &options).unwrap();
    assert_eq!(all[&key("CPU", "", "")].points, [(1_795_593_600.0, 1234.5)]);
}
