//! The columns of two older tools, for spreadsheets made for them: flashdba's awr-parser and SLOB's
//! awr_info. Both are reimplemented from the meaning of their columns. Where a tool takes a figure
//! from another source than this program (redo from `redo size`), the column keeps the tool's
//! meaning.

mod awr_info;
mod awr_parser;

use std::borrow::Cow;

use awr_info::info;
use awr_parser::parser;

use crate::report::AwrReport;
use crate::row::AwrValue;

/// The tool whose columns are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwrCompatLayout {
    /// The columns of awr-parser, as CSV.
    AwrParser,
    /// The columns of awr_info, as fields separated by bars.
    AwrInfo,
}

impl AwrCompatLayout {
    /// The names of the columns.
    pub fn names(self) -> Vec<String> {
        let dummy = |(name, _): (Cow<'static, str>, AwrValue)| name.into_owned();
        match self {
            Self::AwrParser => parser(None).into_iter().map(dummy).collect(),
            Self::AwrInfo => info(None).into_iter().map(dummy).collect(),
        }
    }

    /// The values of a report's columns.
    pub fn values(self, report: &AwrReport) -> Vec<AwrValue> {
        let value = |(_, value): (Cow<'static, str>, AwrValue)| value;
        match self {
            Self::AwrParser => parser(Some(report)).into_iter().map(value).collect(),
            Self::AwrInfo => info(Some(report)).into_iter().map(value).collect(),
        }
    }
}

/// Names and values side by side, so they always match.
type Columns = Vec<(Cow<'static, str>, AwrValue)>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compat_columns_match_the_old_readers() {
        let names = AwrCompatLayout::AwrParser.names();
        assert_eq!(names.len(), 178);
        assert_eq!(names[..4], ["Filename", "Database Name", "Instance Number", "Instance Name"]);
        assert_eq!(names[47], "Top5 Event1 Name");
        assert_eq!(names[77], "db file sequential read Waits");
        assert_eq!(names[161], "Wait Class System I/O %DBTime");
        assert_eq!(names[162], "Histogram <1ms db file sequential read");
        assert_eq!(names.last().map(String::as_str), Some("Histogram >1s log file parallel write"));
        assert_eq!(AwrCompatLayout::AwrInfo.names().len(), 18);
    }
}
