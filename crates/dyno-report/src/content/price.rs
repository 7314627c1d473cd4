//! Tables of the price of performance, and a plot of several platforms.

use dyno_analyze::CurveSummary;
use dyno_analyze::number::{figure, fixed, sessions};
use dyno_analyze::price::{Cost, Costs, PricedPlatform, Prices};

use crate::chart::plot::{Plot, PlotLine, PlotRatio};
use crate::model::table::{Grid, GridCell, GridHead};

/// The scope of the prices, in a sentence.
pub(crate) fn over(prices: &Prices) -> String {
    let months = if prices.months.fract() == 0.0 { fixed(prices.months, 0) } else { figure(prices.months) };
    format!("Costs per month; purchases are used for {months} months.")
}

/// Monthly cost of each platform and its parts.
pub fn price_grid(priced: &[PricedPlatform], currency: &str) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("platform"),
        GridHead::figures("a month", currency),
        GridHead::text("made of"),
    ]);
    for platform in priced {
        let parts: Vec<String> =
            platform.parts.iter().map(|(name, amount)| format!("{name} {}", figure(*amount))).collect();
        grid.row(vec![(&platform.name).into(), GridCell::figure(platform.a_month), parts.join(", ").into()]);
    }
    grid
}

/// Cost of a unit of performance on each platform.
pub fn costs_grid(priced: &[PricedPlatform], costs: &[Costs], currency: &str) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("a month for"),
        GridHead::figures("costs", currency),
        GridHead::figures("×", "").explained("times the first platform's cost; below 1 is cheaper"),
        GridHead::figures("does", "/s"),
        GridHead::text("where"),
    ]);
    for unit in costs {
        grid.row(vec![GridCell::text(&format!("{} ({})", unit.unit, unit.test))]);
        for (at, (platform, cost)) in priced.iter().zip(&unit.each).enumerate() {
            let times = times(unit, at).filter(|_| at > 0).map(|times| times.times);
            let marked = cost.as_ref().is_ok_and(|cost| cost.marked);
            grid.row(vec![
                (&platform.name).into(),
                GridCell::figure(cost.as_ref().ok().map(|cost| cost.a_month)),
                GridCell::figure(times).or_empty(),
                GridCell::figure(cost.as_ref().ok().map(|cost| cost.does)).marked(marked),
                cost.as_ref().map_or_else(GridCell::from, |cost| place(cost).into()),
            ]);
        }
    }
    grid
}

/// Cost of each curve by the price of its platform; `None` if no price applies to any of them. `variant` is
/// the common variant of all curves, if they have one.
pub(crate) fn curve_price_grid(
    curves: &[CurveSummary],
    variant: Option<&str>,
    prices: &Prices,
) -> Option<Grid> {
    let price = |curve: &CurveSummary| {
        let name = curve.variant.as_deref().or(variant)?;
        prices.of(&[name])
    };
    curves.iter().find_map(price)?;
    let mut grid = Grid::new(vec![
        GridHead::text("curve"),
        GridHead::text("platform"),
        GridHead::figures("a month", &prices.currency),
        GridHead::figures("capacity", ""),
        GridHead::figures("for each 1,000", &prices.currency)
            .explained("monthly price divided by the capacity, per 1,000 of its unit"),
        GridHead::figures("×", "").explained("times the first curve's price; below 1 is cheaper"),
    ]);
    let unit_price = |curve: &CurveSummary| {
        let a_month = price(curve)?.monthly_cost(prices.months);
        (curve.capacity.value > 0.0).then(|| 1e3 * a_month / curve.capacity.value)
    };
    let first = curves.first().and_then(|first| Some((first.measure.as_str(), unit_price(first)?)));
    for (at, curve) in curves.iter().enumerate() {
        let platform_price = price(curve);
        let times = first.filter(|(measure, _)| at > 0 && *measure == curve.measure).zip(unit_price(curve));
        grid.row(vec![
            (if curve.name.is_empty() { "all runs" } else { curve.name.as_str() }).into(),
            platform_price.map_or_else(GridCell::absent, |price| (&price.name).into()),
            GridCell::figure(platform_price.map(|price| price.monthly_cost(prices.months))),
            GridCell::phrase(&curve.measure, curve.capacity.value).marked(curve.marked),
            GridCell::figure(unit_price(curve)).marked(curve.marked),
            GridCell::figure(times.map(|((_, first), each)| each / first)).or_empty(),
        ]);
    }
    Some(grid)
}

fn place(cost: &Cost) -> String {
    let with = sessions(f64::from(cost.sessions));
    if cost.at_knee { format!("knee, {with}") } else { format!("most, no knee, {with}") }
}

fn times(unit: &Costs, at: usize) -> Option<PlotRatio> {
    let (first, this) = (unit.each.first()?.as_ref().ok()?, unit.each.get(at)?.as_ref().ok()?);
    let range = first.range.zip(this.range).map(|(first, this)| (this.0 / first.1, this.1 / first.0));
    let times = this.a_month / first.a_month;
    let hover = format!(
        "{}: {} × the cost ({} against {})",
        unit.unit,
        figure(times),
        figure(this.a_month),
        figure(first.a_month)
    );
    times.is_finite().then_some(PlotRatio { times, range, hover })
}

/// Costs of all other platforms as ratios to the first.
pub fn price_plot(priced: &[PricedPlatform], costs: &[Costs]) -> Plot {
    let first = priced.first().map_or("", |platform| platform.name.as_str());
    let row = |unit: &Costs| PlotLine {
        label: unit.unit.to_owned(),
        group: String::new(),
        marks: (1..priced.len()).map(|at| times(unit, at)).collect(),
    };
    Plot {
        title: format!("Costs against {first}"),
        about: "what a unit of performance costs each month; left of 1 is cheaper".to_owned(),
        axis: format!("times the cost on {first}"),
        series: priced.iter().skip(1).map(|platform| platform.name.clone()).collect(),
        rows: costs.iter().map(row).collect(),
    }
}
