//! What a section looks like: its titles, its captions, and what the figures under them are called.

use crate::number::TimeUnit;

/// How a figure of two intervals is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// It is a total of the interval, so it is compared per second.
    PerSecond,
    /// It is a rate, a mean, a share or a size, so it is compared as it stands.
    AsPrinted,
}

/// How a cell is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reads {
    /// A part of the row's name.
    Name,
    /// A database object or a program of the application.
    Object,
    /// A text that is not kept.
    Skipped,
    /// A number, multiplied by this factor.
    Number(f64),
    /// A time in milliseconds; without a unit in cell and caption it has this one.
    Milliseconds(TimeUnit),
    /// Several numbers with slashes between them, and what each is called.
    Parts(&'static [&'static str]),
}

/// A column, by whichever caption a release gives it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// Its captions in all releases, squashed.
    pub(super) captions: &'static [&'static str],
    /// What the figure is called.
    pub(super) figure: &'static str,
    pub(super) reads: Reads,
    /// How it is compared between reports; absent where it is not.
    pub(super) compared: Option<Compared>,
}

impl Column {
    /// The figure is a total of the interval that reports are compared by.
    pub(super) const fn total(self) -> Self {
        Self { compared: Some(Compared::PerSecond), ..self }
    }

    /// The figure is a rate, a share or a size that reports are compared by.
    pub(super) const fn level(self) -> Self {
        Self { compared: Some(Compared::AsPrinted), ..self }
    }
}

/// A section, as all releases print it together.
#[derive(Debug)]
pub(super) struct Layout {
    /// Its titles in all releases, squashed.
    pub(super) titles: &'static [&'static str],
    /// The list that it is read into.
    pub(super) list: &'static str,
    /// All columns that any release has. A table has some of them, in this order where two have one caption.
    pub(super) columns: &'static [Column],
    /// Whether a blank name is that of the row above.
    pub(super) repeats_names: bool,
}

const fn column(captions: &'static [&'static str], figure: &'static str, reads: Reads) -> Column {
    Column { captions, figure, reads, compared: None }
}

pub(super) const fn name(captions: &'static [&'static str]) -> Column {
    column(captions, "", Reads::Name)
}

pub(super) const fn object(captions: &'static [&'static str]) -> Column {
    column(captions, "", Reads::Object)
}

pub(super) const fn skipped(captions: &'static [&'static str]) -> Column {
    column(captions, "", Reads::Skipped)
}

pub(super) const fn number(captions: &'static [&'static str], figure: &'static str) -> Column {
    column(captions, figure, Reads::Number(1.0))
}

pub(super) const fn thousands(captions: &'static [&'static str], figure: &'static str) -> Column {
    column(captions, figure, Reads::Number(1e3))
}

pub(super) const fn milliseconds(
    captions: &'static [&'static str],
    figure: &'static str,
    unit: TimeUnit,
) -> Column {
    column(captions, figure, Reads::Milliseconds(unit))
}

pub(super) const fn parts(captions: &'static [&'static str], figures: &'static [&'static str]) -> Column {
    column(captions, "", Reads::Parts(figures))
}

/// A section whose rows each have their own names.
pub(super) const fn layout(
    titles: &'static [&'static str],
    list: &'static str,
    columns: &'static [Column],
) -> Layout {
    Layout { titles, list, columns, repeats_names: false }
}

/// A section in which a blank name is that of the row above.
pub(super) const fn grouped(
    titles: &'static [&'static str],
    list: &'static str,
    columns: &'static [Column],
) -> Layout {
    Layout { titles, list, columns, repeats_names: true }
}
