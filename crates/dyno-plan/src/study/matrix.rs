//! Builds the variants of a study: combines the values of axes, and adds the base a second time if requested.

use super::{ReversibleCommands, Variant};

/// A variant as written, with its axis if it is a value of one.
pub(super) struct WrittenVariant {
    pub(super) axis: Option<String>,
    pub(super) variant: Variant,
}

/// Variants without an axis, then every combination of one value of each axis.
pub(super) fn combined(written: Vec<WrittenVariant>) -> Vec<Variant> {
    let mut alone = Vec::new();
    let mut axes: Vec<(String, Vec<Variant>)> = Vec::new();
    for WrittenVariant { axis, variant } in written {
        match axis {
            None => alone.push(variant),
            Some(axis) => match axes.iter_mut().find(|(name, _)| *name == axis) {
                Some((_, values)) => values.push(variant),
                None => axes.push((axis, vec![variant])),
            },
        }
    }
    let mut matrix: Vec<Variant> = Vec::new();
    for (_, values) in axes {
        matrix = match matrix.is_empty() {
            true => values,
            false => matrix
                .iter()
                .flat_map(|so_far| values.iter().map(|value| combine_variants(so_far, value)))
                .collect(),
        };
    }
    alone.extend(matrix);
    alone
}

/// Combines two variants: the later axis is applied later and reverted earlier, and its keys override.
fn combine_variants(a: &Variant, b: &Variant) -> Variant {
    let join = |a: &str, b: &str, with: &str| match (a.is_empty(), b.is_empty()) {
        (_, true) => a.to_owned(),
        (true, _) => b.to_owned(),
        _ => format!("{a}{with}{b}"),
    };
    let mut needs = a.needs.clone();
    needs.extend(b.needs.iter().copied().filter(|need| !a.needs.contains(need)));
    Variant {
        name: join(&a.name, &b.name, ", "),
        about: join(&a.about, &b.about, "; "),
        set: a.set.iter().chain(&b.set).cloned().collect(),
        parts: a.parts.iter().chain(&b.parts).cloned().collect::<Vec<ReversibleCommands>>(),
        needs,
        settings: a.settings.iter().chain(&b.settings).cloned().collect(),
        again: false,
    }
}

/// A copy of the base, to be measured a second time.
pub(super) fn repeat_base(base: &Variant) -> Variant {
    Variant {
        name: format!("{} again", base.name),
        about: format!("{} a second time: differences are chance", base.name),
        again: true,
        ..base.clone()
    }
}
