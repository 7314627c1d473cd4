//! Tables in files: lines of cells, numbers and times in the notations of other programs.

pub(crate) mod csv;
pub(crate) mod moment;
mod notation;
pub(crate) mod number;
pub(crate) mod pairs;
mod source;
mod strict;

pub use notation::{DateOrder, DecimalMark, Separator, TableNotation};
pub use source::{ImportFile, ImportKind};
pub(crate) use strict::CsvError;
