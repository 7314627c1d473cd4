use super::*;
use crate::reference::reference;
use crate::scorecard::ScorecardPlatform;

fn printed(name: &str) -> ScorecardPlatform {
    let suite = reference(name).unwrap().suite();
    ScorecardPlatform {
        name: name.to_owned(),
        suites: vec![suite],
        printed: true,
        plan_settings: Vec::new(),
        notes: Vec::new(),
        again: Default::default(),
    }
}

fn price() -> PlatformPrice {
    PlatformPrice {
        name: "flash".to_owned(),
        purchase: 48_000.0,
        per_month: 500.0,
        cores: 16.0,
        licence_per_core: 3_000.0,
        watts: 1_000.0,
        kwh: 0.2,
        ..PlatformPrice::default()
    }
}

fn prices() -> Prices {
    Prices { currency: "EUR".to_owned(), months: 48.0, platform: vec![price()] }
}

#[test]
fn monthly_price_is_the_sum_of_its_parts() {
    // 48,000 / 48 + 500 + 16 x 3,000 / 48 + 1 kW x 730.5 h x 0.2
    assert!((price().monthly_cost(48.0) - (1_000.0 + 500.0 + 1_000.0 + 146.1)).abs() < 1e-9);
}

#[test]
fn monthly_unit_cost_uses_platform_rate_at_the_knee() {
    let (priced, costs) = costs(&prices(), &[(printed("random-read-flash-oracle"), price())]);
    assert!((priced[0].a_month - 2_646.1).abs() < 1e-9);
    let [reads] = costs.as_slice() else { panic!("{costs:#?}") };
    let cost = reads.each[0].as_ref().unwrap();
    assert_eq!((cost.sessions, cost.at_knee, cost.does), (32, true, 510_868.0));
    assert!((cost.a_month - 2_646.1 / 510.868).abs() < 1e-9);
}

#[test]
fn price_uses_one_test_for_all_platforms_and_names_missing() {
    let priced_platforms =
        [(printed("server-in-memory-oracle"), price()), (printed("random-read-flash-oracle"), price())];
    let (_, costs) = costs(&prices(), &priced_platforms);
    let logical = costs.iter().find(|costs| costs.unit.contains("logical")).unwrap();
    assert_eq!(logical.test, "server-scan", "nobody has server-logical-reads");
    assert!(logical.each[0].is_ok());
    assert_eq!(logical.each[1], Err("not measured".to_owned()));
}

#[test]
fn invalid_prices_are_reported_by_their_key() {
    let with = |change: fn(&mut Prices)| {
        let mut prices = prices();
        change(&mut prices);
        prices.fault().map(|fault| fault.problem)
    };
    assert_eq!(with(|_| ()), None);
    assert!(with(|prices| prices.months = 0.0).unwrap().starts_with("months = 0"));
    assert!(with(|prices| prices.platform.clear()).unwrap().contains("[[platform]]"));
    let price_fault = |change: fn(&mut PlatformPrice)| {
        let mut prices = prices();
        change(&mut prices.platform[0]);
        prices.fault().map(|fault| fault.problem).unwrap_or_default()
    };
    assert!(price_fault(|price| price.purchase = -1.0).starts_with("platform flash: purchase = -1"));
    assert!(price_fault(|price| price.purchase = f64::NAN).starts_with("platform flash: purchase"));
    assert!(price_fault(|price| price.name.clear()).starts_with("platform 1: name"));
    assert!(with(|prices| prices.platform.push(price())).unwrap().contains("another platform has the name"));
    assert!(price_fault(|price| price.cores = 0.0).contains("needs the number of cores"));
    assert!(price_fault(|price| price.kwh = 0.0).contains("both watts and kwh"));
    assert!(
        price_fault(|price| *price = PlatformPrice { name: "x".to_owned(), ..PlatformPrice::default() })
            .contains("costs nothing")
    );
}

#[test]
fn price_is_found_by_name_suite_or_variant() {
    let mut prices = prices();
    prices.platform.push(PlatformPrice { name: "disks".into(), suite: "variant:old".into(), ..price() });
    let find_price = |name: &str| prices.of(&[name]).map(|price| price.name.as_str());
    assert_eq!(
        ["flash", "old", "variant:old", "disks"].map(find_price),
        [Some("flash"), Some("disks"), Some("disks"), Some("disks")]
    );
    assert_eq!((find_price("none"), find_price("")), (None, None), "what has no name is no platform");
}
