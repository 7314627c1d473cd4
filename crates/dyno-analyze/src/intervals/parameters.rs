//! Compares the parameters of two reports. Text reports truncate names and values, so only the part
//! that both show is compared.

use std::collections::BTreeMap;

/// Characters of a parameter's name that text reports print.
pub const NAME_WIDTH: usize = 29;

/// Characters of a value that an instance's text report prints; a cluster report prints more.
pub const VALUE_WIDTH: usize = 33;

/// A parameter that differs: its value in each report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterLine {
    /// Its full name; the whole one where the other report truncates it.
    pub name: String,
    /// Value in the first report; absent where that does not list it.
    pub a: Option<String>,
    /// Value in the second report; absent where that does not list it.
    pub b: Option<String>,
}

/// The parameters that one report lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParameterList {
    /// Whether names and values may be truncated.
    pub is_text: bool,
    /// Full names and values in the order of the report. A full name is `NAME`, `NAME (SCOPE)`, or
    /// `NAME #2` for the second parameter whose name was truncated to `NAME`.
    pub parameters: Vec<(String, String)>,
}

/// The parameters with one name, in the order of each report.
type Group<'r> = [Vec<&'r (String, String)>; 2];

/// A parameter of the first report and one of the second; either may be absent.
type Pair<'p, 'r> = (Option<&'p &'r (String, String)>, Option<&'p &'r (String, String)>);

/// Parameters whose values differ, by name; empty where one report lists no parameters.
pub fn differing_parameters(a: &ParameterList, b: &ParameterList) -> Vec<ParameterLine> {
    if a.parameters.is_empty() || b.parameters.is_empty() {
        return Vec::new();
    }
    let is_cut = a.is_text || b.is_text;
    let mut groups: BTreeMap<(String, &str), Group<'_>> = BTreeMap::new();
    for (side, list) in [a, b].into_iter().enumerate() {
        for parameter in &list.parameters {
            groups.entry(key(&parameter.0, is_cut)).or_default()[side].push(parameter);
        }
    }
    let is_same = |x: &str, y: &str| is_same_value((x, a.is_text), (y, b.is_text));
    groups.into_values().flat_map(|group| lines(group, is_same)).collect()
}

/// The part of the name that both reports show, and what the value belongs to.
fn key(full_name: &str, is_cut: bool) -> (String, &str) {
    let (name, scope) = full_name.split_once(" (").unwrap_or((full_name, ""));
    let name = name.split_once(" #").map_or(name, |(name, _)| name);
    let shown = if is_cut { NAME_WIDTH } else { usize::MAX };
    (name.chars().take(shown).collect(), scope)
}

/// The lines of one group. With equally many parameters on both sides, they are compared in order;
/// otherwise equal values are paired first.
fn lines([mut a, mut b]: Group<'_>, is_same: impl Fn(&str, &str) -> bool) -> Vec<ParameterLine> {
    if a.len() != b.len() {
        a.retain(|of_a| match b.iter().position(|of_b| is_same(&of_a.1, &of_b.1)) {
            Some(at) => {
                b.remove(at);
                false
            }
            None => true,
        });
    }
    let pairs = (0..a.len().max(b.len())).map(|at| (a.get(at), b.get(at)));
    let changed = pairs.filter(|pair| !matches!(pair, (Some(a), Some(b)) if is_same(&a.1, &b.1)));
    let line = |(a, b): Pair<'_, '_>| {
        // If one report truncates a name, the other shows more of it.
        let longer = a.into_iter().chain(b).max_by_key(|of| key(&of.0, false).0.len());
        ParameterLine {
            name: longer.map_or_else(String::new, |of| of.0.clone()),
            a: a.map(|of| of.1.clone()),
            b: b.map(|of| of.1.clone()),
        }
    };
    changed.map(line).collect()
}

/// Whether two values agree as far as both reports show them; each is given with whether it comes
/// from text. Text breaks lists without a space between their values.
fn is_same_value((a, a_is_text): (&str, bool), (b, b_is_text): (&str, bool)) -> bool {
    let without_blanks = |value: &str| value.split_whitespace().collect::<String>();
    let (bare_a, bare_b) = (without_blanks(a), without_blanks(b));
    let may_be_cut = |value: &str, is_text: bool| is_text && value.chars().count() >= VALUE_WIDTH;
    a == b
        || (a_is_text != b_is_text && bare_a == bare_b)
        || (may_be_cut(a, a_is_text) && bare_b.starts_with(&bare_a))
        || (may_be_cut(b, b_is_text) && bare_a.starts_with(&bare_b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LONG: &str = "_optimizer_adaptive_cursor_sharing";
    const CUT: &str = "_optimizer_adaptive_cursor_sh";

    fn list(is_text: bool, parameters: &[(&str, &str)]) -> ParameterList {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        ParameterList { is_text, parameters: parameters.iter().map(owned).collect() }
    }

    fn shown(a: &ParameterList, b: &ParameterList) -> Vec<String> {
        let side = |value: Option<String>| value.unwrap_or_else(|| "-".into());
        let line = |of: ParameterLine| format!("{}: {} {}", of.name, side(of.a), side(of.b));
        differing_parameters(a, b).into_iter().map(line).collect()
    }

    #[test]
    fn truncated_parameters_in_text_report_are_no_difference() {
        let html = list(
            false,
            &[(LONG, "FALSE"), ("control_files", "/data/one/control01.ctl, /data/two/control02.ctl")],
        );
        let text = list(true, &[(CUT, "FALSE"), ("control_files", "/data/one/control01.ctl, /data/tw")]);
        assert_eq!(shown(&html, &text), [""; 0]);
        let other = list(true, &[(CUT, "TRUE"), ("control_files", "/data/one/control01.ctl, /data/tw")]);
        assert_eq!(shown(&other, &html), [format!("{LONG}: TRUE FALSE")]);
    }

    #[test]
    fn html_reports_distinguish_full_parameter_names() {
        let a = list(false, &[(LONG, "FALSE")]);
        let b = list(false, &[(&LONG[..30], "FALSE")]);
        assert_eq!(shown(&a, &b).len(), 2);
    }

    #[test]
    fn truncated_parameter_names_are_compared_one_by_one() {
        let parameters = [("_optimizer_adaptive_cursor_shape", "1"), (LONG, "2")];
        let [name_1, name_2] = [1, 2].map(|ordinal| format!("{CUT} #{ordinal}"));
        let text = |x: &'static str, y: &'static str| list(true, &[(&name_1, x), (&name_2, y)]);
        assert_eq!(shown(&list(false, &parameters), &text("1", "2")), [""; 0]);
        assert_eq!(shown(&list(false, &parameters), &text("1", "3")), [format!("{LONG}: 2 3")]);
        assert_eq!(shown(&list(false, &parameters[1..]), &text("1", "2")), [format!("{CUT} #1: - 1")]);
    }

    #[test]
    fn pdb_parameters_are_compared_within_same_pdb() {
        let a = list(false, &[("open_links", "4"), ("open_links (SALES)", "9")]);
        let b = list(true, &[("open_links", "4"), ("open_links (SALES)", "8")]);
        assert_eq!(shown(&a, &b), ["open_links (SALES): 9 8"]);
    }

    proptest! {
        #[test]
        fn text_and_html_of_one_parameter_list_do_not_differ(names in prop::collection::btree_set("[a-z_]{1,40}", 1..20), value in "[a-z/ ,]{0,60}") {
            let html: Vec<(String, String)> = names.into_iter().map(|name| (name, value.clone())).collect();
            let cut = |text: &str, width: usize| text.chars().take(width).collect::<String>();
            let text = html.iter().map(|(name, value)| (cut(name, NAME_WIDTH), cut(value, VALUE_WIDTH))).collect();
            let html = ParameterList { is_text: false, parameters: html };
            let text = ParameterList { is_text: true, parameters: text };
            prop_assert_eq!(differing_parameters(&html, &text), vec![]);
            prop_assert_eq!(differing_parameters(&html, &html), vec![]);
        }
    }
}
