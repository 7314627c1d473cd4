//! The columns of two older readers, so that spreadsheets made for them go on working: flashdba's awr-parser, and SLOB's
//! awr_info. Both are made anew from what their columns say; where one of them takes a figure from another place than
//! this program does (redo from `redo size`), the column keeps its own meaning.

mod awr_info;
mod awr_parser;

use std::borrow::Cow;

use awr_info::info;
use awr_parser::parser;

use crate::report::AwrReport;
use crate::row::Value;

/// Whose columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// awr-parser: CSV.
    AwrParser,
    /// awr_info: fields between bars.
    AwrInfo,
}

impl Layout {
    /// The names of the columns.
    pub fn names(self) -> Vec<String> {
        let dummy = |(name, _): (Cow<'static, str>, Value)| name.into_owned();
        match self {
            Self::AwrParser => parser(None).into_iter().map(dummy).collect(),
            Self::AwrInfo => info(None).into_iter().map(dummy).collect(),
        }
    }

    /// The values of a report's columns.
    pub fn values(self, report: &AwrReport) -> Vec<Value> {
        let value = |(_, value): (Cow<'static, str>, Value)| value;
        match self {
            Self::AwrParser => parser(Some(report)).into_iter().map(value).collect(),
            Self::AwrInfo => info(Some(report)).into_iter().map(value).collect(),
        }
    }
}

/// Names and values side by side, so that they cannot get out of step.
type Columns = Vec<(Cow<'static, str>, Value)>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_old_readers() {
        let names = Layout::AwrParser.names();
        assert_eq!(names.len(), 178);
        assert_eq!(names[..4], ["Filename", "Database Name", "Instance Number", "Instance Name"]);
        assert_eq!(names[47], "Top5 Event1 Name");
        assert_eq!(names[77], "db file sequential read Waits");
        assert_eq!(names[161], "Wait Class System I/O %DBTime");
        assert_eq!(names[162], "Histogram <1ms db file sequential read");
        assert_eq!(names.last().map(String::as_str), Some("Histogram >1s log file parallel write"));
        assert_eq!(Layout::AwrInfo.names().len(), 18);
    }
}
