//! Defines the layout of a section: its titles, its captions, and the names of the figures below
//! them.

use crate::number::TimeUnit;

/// How a figure of two intervals is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AwrComparisonKind {
    /// It is a total of the interval, so it is compared per second.
    PerSecond,
    /// It is a rate, a mean, a share or a size, so it is compared as printed.
    AsPrinted,
}

/// How a cell is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum AwrCellFormat {
    /// A part of the row's name.
    Name,
    /// A database object or a program of the application.
    Object,
    /// A text that is not kept.
    Skipped,
    /// A number, multiplied by this factor.
    Number(f64),
    /// A time in milliseconds; the unit given here applies where neither cell nor caption has one.
    Milliseconds(TimeUnit),
    /// Several numbers separated by slashes, and their names.
    Parts(&'static [&'static str]),
}

/// A column, by the captions that releases give it.
#[derive(Debug, Clone, Copy)]
pub(super) struct AwrColumn {
    /// Its captions in all releases, in the form for comparison.
    pub(super) captions: &'static [&'static str],
    /// The name of the figure.
    pub(super) figure: &'static str,
    pub(super) reads: AwrCellFormat,
    /// How it is compared between reports; absent where it is not.
    pub(super) compared: Option<AwrComparisonKind>,
}

impl AwrColumn {
    /// Marks the figure as a total of the interval by which reports are compared.
    pub(super) const fn total(self) -> Self {
        Self { compared: Some(AwrComparisonKind::PerSecond), ..self }
    }

    /// Marks the figure as a rate, a share or a size by which reports are compared.
    pub(super) const fn level(self) -> Self {
        Self { compared: Some(AwrComparisonKind::AsPrinted), ..self }
    }
}

/// A section, combined from all releases.
#[derive(Debug)]
pub(super) struct AwrSectionLayout {
    /// Its titles in all releases, in the form for comparison.
    pub(super) titles: &'static [&'static str],
    /// The list into which it is read.
    pub(super) list: &'static str,
    /// All columns that any release has. A table has some of them; where two share a caption, this
    /// order decides.
    pub(super) columns: &'static [AwrColumn],
    /// Whether a blank name repeats that of the row above.
    pub(super) repeats_names: bool,
}

const fn column(captions: &'static [&'static str], figure: &'static str, reads: AwrCellFormat) -> AwrColumn {
    AwrColumn { captions, figure, reads, compared: None }
}

pub(super) const fn name(captions: &'static [&'static str]) -> AwrColumn {
    column(captions, "", AwrCellFormat::Name)
}

pub(super) const fn object(captions: &'static [&'static str]) -> AwrColumn {
    column(captions, "", AwrCellFormat::Object)
}

pub(super) const fn skipped(captions: &'static [&'static str]) -> AwrColumn {
    column(captions, "", AwrCellFormat::Skipped)
}

pub(super) const fn number(captions: &'static [&'static str], figure: &'static str) -> AwrColumn {
    column(captions, figure, AwrCellFormat::Number(1.0))
}

pub(super) const fn thousands(captions: &'static [&'static str], figure: &'static str) -> AwrColumn {
    column(captions, figure, AwrCellFormat::Number(1e3))
}

pub(super) const fn milliseconds(
    captions: &'static [&'static str],
    figure: &'static str,
    unit: TimeUnit,
) -> AwrColumn {
    column(captions, figure, AwrCellFormat::Milliseconds(unit))
}

pub(super) const fn parts(captions: &'static [&'static str], figures: &'static [&'static str]) -> AwrColumn {
    column(captions, "", AwrCellFormat::Parts(figures))
}

/// A section whose rows each have their own names.
pub(super) const fn layout(
    titles: &'static [&'static str],
    list: &'static str,
    columns: &'static [AwrColumn],
) -> AwrSectionLayout {
    AwrSectionLayout { titles, list, columns, repeats_names: false }
}

/// A section in which a blank name repeats that of the row above.
pub(super) const fn grouped(
    titles: &'static [&'static str],
    list: &'static str,
    columns: &'static [AwrColumn],
) -> AwrSectionLayout {
    AwrSectionLayout { titles, list, columns, repeats_names: true }
}
