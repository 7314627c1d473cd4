//! Properties that every picture must have, whatever it shows.

use super::*;
use crate::chart::{Category, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, Quantity, SeriesKind};

fn line(style: usize, points: usize) -> ChartSeries {
    let point = |i: usize| {
        let x = (i + 1) as f64;
        ChartPoint {
            label: format!("{}", i + 1),
            range: Some((90.0 * x, 130.0 * x)),
            ..ChartPoint::at(x, 100.0 * x + style as f64)
        }
    };
    ChartSeries {
        name: format!("{style}0 % updates"),
        kind: SeriesKind::Line,
        style,
        points: (0..points).map(point).collect(),
    }
}

fn chart(series: Vec<ChartSeries>) -> Chart {
    Chart {
        id: "petal".into(),
        title: "Service time by throughput".into(),
        about: "Up is slower.".into(),
        x: ChartAxis::linear("operations", Quantity::Plain("/s")),
        y: ChartAxis::linear("service time, p99", Quantity::Micros),
        series,
        marks: vec![ChartMark { name: "knee: 4 sessions".into(), at: MarkAt::Point(4.0, 400.0) }],
    }
}

/// Every label as a box: left, right, baseline, text.
fn texts(svg: &str) -> Vec<(f64, f64, f64, String)> {
    let mut out = Vec::new();
    for part in svg.split("<text ").skip(1) {
        let (attributes, rest) = part.split_once('>').unwrap();
        let content = rest.split("</text>").next().unwrap();
        let content = content.rsplit_once("\">").map_or(content, |(_, c)| c).replace("</tspan>", "");
        let value = |name: &str| {
            attributes.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().to_owned()
        };
        let (x, y): (f64, f64) = (value("x").parse().unwrap(), value("y").parse().unwrap());
        let width = crate::chart::measure::text_width(&content, value("font-size").parse().unwrap());
        let left = match value("text-anchor").as_str() {
            "middle" => x - width / 2.0,
            "end" => x - width,
            _ => x,
        };
        out.push((left, left + width, y, content));
    }
    out
}

fn check(svg: &str) {
    let texts = texts(svg);
    for (i, a) in texts.iter().enumerate() {
        assert!(a.0 >= -2.0, "clipped: {a:?}");
        assert!(a.1 <= WIDTH + 2.0, "clipped: {a:?}");
        for b in &texts[i + 1..] {
            let apart = a.1 <= b.0 || b.1 <= a.0 || (a.2 - b.2).abs() >= 11.0;
            assert!(apart, "{a:?} lies over {b:?}");
        }
    }
}

#[test]
fn chart_labels_never_overlap_or_get_clipped() {
    for points in [1, 2, 7, 30, 80, 200] {
        for count in [1, 4, 12] {
            for log in [false, true] {
                let mut chart = chart((0..count).map(|style| line(style, points)).collect());
                if log {
                    chart.x = ChartAxis::log("operations", Quantity::Plain("/s"));
                    chart.y = ChartAxis::log("service time, p99", Quantity::Micros);
                }
                check(&svg(&chart, SvgPlacement::Page));
            }
        }
    }
}

#[test]
fn chart_legend_is_below_the_plot() {
    let layout = ChartLayout::of(&chart((0..30).map(|style| line(style, 7)).collect()));
    assert!(layout.legend.iter().all(|entry| entry.y > layout.bottom + 20.0));
    assert!(layout.legend.last().unwrap().name.starts_with("and "), "{:?}", layout.legend.last());
}

#[test]
fn many_grouped_category_labels_do_not_overlap() {
    let category = |i: usize| Category {
        label: format!("{}", 1 << (i % 7)),
        group: format!("{} % updates", i / 7 * 10),
    };
    let mut chart = chart(vec![]);
    for count in [1, 7, 28, 200] {
        chart.x = ChartAxis::ordinal("sessions", (0..count).map(category).collect());
        let column = |name: &str, style| ChartSeries {
            name: name.into(),
            kind: SeriesKind::Column,
            style,
            points: (0..count).map(|i| ChartPoint::at(i as f64, 20.0)).collect(),
        };
        chart.series = vec![column("user", 0), column("sys", 1)];
        check(&svg(&chart, SvgPlacement::Page));
    }
}

#[test]
fn user_text_is_escaped_in_svg_and_both_axes_have_units() {
    let mut chart = chart(vec![line(0, 3), line(1, 3)]);
    chart.title = "<script>alert(1)</script>".into();
    chart.series[0].name = "\"><img src=x onerror=alert(1)>".into();
    chart.series[0].points[0].hover = "</title><script>".into();
    chart.series[0].points[0].link = "\" onclick=\"x".into();
    let svg = svg(&chart, SvgPlacement::Page);
    assert!(!svg.contains("<script"), "{svg}");
    assert!(!svg.contains("<img"), "{svg}");
    assert!(!svg.contains("onclick=\""), "{svg}");
    assert!(svg.contains("operations, /s"), "{svg}");
    assert!(svg.contains("service time, p99, µs"), "{svg}");
}

#[test]
fn standalone_svg_has_its_own_colors() {
    let chart = chart(vec![line(0, 3)]);
    let alone = svg(&chart, SvgPlacement::Alone);
    assert!(alone.contains("prefers-color-scheme:dark"), "{alone}");
    assert!(!alone.contains("var("), "{alone}");
    assert!(svg(&chart, SvgPlacement::Page).contains("data-x="));
}

/// The coordinates of an element with these attributes.
fn attributes<const N: usize>(svg: &str, begin: &str, names: [&str; N]) -> [f64; N] {
    let (_, rest) = svg.split_once(begin).unwrap();
    let tag = rest.split('>').next().unwrap();
    names.map(|name| {
        let (_, value) = tag.split_once(&format!(" {name}=\"")).unwrap();
        value.split('"').next().unwrap().parse().unwrap()
    })
}

#[test]
fn ring_at_the_edge_of_the_plot_is_not_clipped() {
    let mut chart = chart(vec![line(0, 4)]);
    chart.x = ChartAxis::linear("sessions", Quantity::Plain("")).reaching(4.0);
    for (x, y) in [(4.0, 520.0), (1.0, 0.0)] {
        chart.marks[0].at = MarkAt::Knee(x, y);
        let svg = svg(&chart, SvgPlacement::Page);
        let [left, top, width, height] =
            attributes(&svg, "<clipPath id=\"clip-petal\"><rect", ["x", "y", "width", "height"]);
        let [x, y, r] = attributes(&svg, "<circle class=\"ring\"", ["cx", "cy", "r"]);
        assert!(x - r > left, "{svg}");
        assert!(x + r < left + width, "{svg}");
        assert!(y - r > top, "{svg}");
        assert!(y + r < top + height, "{svg}");
    }
}

#[test]
fn line_over_grouped_categories_has_a_gap_between_groups() {
    let category = |(group, label): (&str, &str)| Category { label: label.into(), group: group.into() };
    let mut chart = chart(vec![line(0, 4)]);
    chart.series[0].points.iter_mut().for_each(|point| point.x -= 1.0);
    chart.marks.clear();
    let categories = [("0", "1"), ("0", "4"), ("20", "1"), ("20", "4")].map(category);
    chart.x = ChartAxis::ordinal("update_pct, sessions", categories.into());
    let svg = svg(&chart, SvgPlacement::Page);
    let (_, path) = svg.split_once("<path class=\"ln l0\"").unwrap();
    let path = path.split("/>").next().unwrap();
    assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 2), "{path}");
}
