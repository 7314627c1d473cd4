//! What a document consists of: sections of sentences, charts and tables of typed cells. It does not know how it
//! is rendered.

pub(crate) mod cell;
pub(crate) mod document;
pub(crate) mod request;
pub(crate) mod status;
pub(crate) mod table;

pub use cell::{CellNumber, GridCell, unit_name};
pub use document::{PageSection, Picture, ReportDocument, SheetPart, Sheets, Tile};
pub use request::ReportRequest;
pub use table::{ColumnPlace, Grid, GridHead};
