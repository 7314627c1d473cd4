//! From the variants that are written to those that are run: axes combine, and the base may come twice.

use super::{Undoable, Variant};

/// One variant as written, with the axis that it is a value of.
pub(super) struct Written {
    pub(super) axis: Option<String>,
    pub(super) variant: Variant,
}

/// Variants without an axis as they are, then every combination of one value of each axis.
pub(super) fn combined(written: Vec<Written>) -> Vec<Variant> {
    let mut alone = Vec::new();
    let mut axes: Vec<(String, Vec<Variant>)> = Vec::new();
    for Written { axis, variant } in written {
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
            false => {
                matrix.iter().flat_map(|so_far| values.iter().map(|value| both(so_far, value))).collect()
            }
        };
    }
    alone.extend(matrix);
    alone
}

/// A combination: the later axis is applied later, reverted earlier, and its keys go before.
fn both(a: &Variant, b: &Variant) -> Variant {
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
        parts: a.parts.iter().chain(&b.parts).cloned().collect::<Vec<Undoable>>(),
        needs,
        settings: a.settings.iter().chain(&b.settings).cloned().collect(),
        again: false,
    }
}

/// The base for a second time.
pub(super) fn again(base: &Variant) -> Variant {
    Variant {
        name: format!("{} again", base.name),
        about: format!("{} a second time: what it differs by is chance", base.name),
        again: true,
        ..base.clone()
    }
}
