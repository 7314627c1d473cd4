//! Parses dates as reports print them: `04-Feb-23 19:00:39`, with months in the language of the
//! report's session.

use jiff::civil::{Date, DateTime, Time};

/// First letters of the months as Oracle's `NLS_DATE_LANGUAGE` abbreviates them, lower case. A word
/// is a month if it begins with one of them. Longer ones are tried first, to distinguish `juin` and
/// `juil`.
const MONTHS: [&[&str]; 12] = [
    &["jan", "gen", "ene", "янв", "sty", "led", "oca", "tammi", "ian", "ιαν"],
    &["feb", "fév", "fev", "фев", "lut", "úno", "uno", "şub", "sub", "helmi", "φεβ"],
    &["mar", "mär", "mrz", "maa", "mrt", "мар", "bře", "bre", "μαρ"],
    &["apr", "avr", "abr", "апр", "kwi", "dub", "nis", "huhti", "απρ"],
    &["may", "mai", "mag", "mei", "maj", "май", "kvě", "kve", "touko", "μαϊ", "μαι"],
    &["jun", "juin", "giu", "июн", "cze", "čvn", "haz", "kesä", "iun", "ιουν"],
    &["jul", "juil", "lug", "июл", "lip", "čvc", "tem", "heinä", "iul", "ιουλ"],
    &["aug", "aoû", "aou", "ago", "авг", "sie", "srp", "ağu", "agu", "elo", "αυγ"],
    &["sep", "set", "сен", "wrz", "zář", "zar", "eyl", "syys", "σεπ"],
    &["oct", "okt", "ott", "out", "окт", "paź", "paz", "říj", "rij", "eki", "loka", "οκτ"],
    &["nov", "ноя", "lis", "kas", "marras", "noi", "νοε"],
    &["dec", "déc", "dez", "dic", "des", "дек", "gru", "pro", "ara", "joulu", "δεκ"],
];

/// The month that `word` denotes: by letters, by number, or by number with the sign for month
/// (`4月`, `4월`).
fn month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(['月', '월']);
    if let Ok(number) = digits.parse::<i8>() {
        return (1..=12).contains(&number).then_some(number);
    }
    let lower = word.trim_end_matches('.').to_lowercase();
    let match_length =
        |names: &[&str]| names.iter().filter(|name| lower.starts_with(**name)).map(|n| n.len()).max();
    let best = (1i8..).zip(MONTHS).filter_map(|(i, names)| match_length(names).map(|len| (len, i))).max();
    best.map(|(_, month)| month)
}

/// A two-digit year is of this century up to 49, as in Oracle's `RR`.
fn year(digits: &str) -> Option<i16> {
    let value: i16 = digits.parse().ok()?;
    match digits.len() {
        4 => Some(value),
        2 if value < 50 => Some(2000 + value),
        2 => Some(1900 + value),
        _ => None,
    }
}

/// Parses the time in `text`, in the database host's own time; `None` where it is none.
///
/// Names of months are padded to the longest of their language (`16-2月 -13`), so blanks beside a
/// dash are ignored.
pub fn parse_timestamp(text: &str) -> Option<DateTime> {
    let words: Vec<&str> = text.split('-').map(str::trim).collect();
    let joined = words.join("-");
    let mut words = joined.split_whitespace();
    let date = date(words.next()?)?;
    let time = match words.next() {
        Some(word) => clock(word)?,
        None => Time::midnight(),
    };
    Some(date.to_datetime(time))
}

fn date(word: &str) -> Option<Date> {
    let parts: Vec<&str> = word.split(['-', '/', '.', ' ']).filter(|part| !part.is_empty()).collect();
    let [first, middle, last] = parts[..] else { return None };
    let (day, year_of) = if first.len() == 4 { (last, first) } else { (first, last) };
    Date::new(year(year_of)?, month(middle)?, day.parse().ok()?).ok()
}

fn clock(word: &str) -> Option<Time> {
    let mut parts = word.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let seconds = parts.next().map_or(Some(0), |second| second)?;
    Time::new(hour, minute, seconds, 0).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timestamps_parse_month_names_of_many_languages() {
        let cases = [
            ("04-Feb-23 19:00:39", "2023-02-04T19:00:39"),
            ("10-Feb-20 11:21", "2020-02-10T11:21:00"),
            ("04-FEB-2023 19:00:39", "2023-02-04T19:00:39"),
            ("03-Mär-21 10:00:00", "2021-03-03T10:00:00"),
            ("03-MRZ-21 10:00:00", "2021-03-03T10:00:00"),
            ("01-Okt-21 10:00:00", "2021-10-01T10:00:00"),
            ("01-Dez-99 10:00:00", "1999-12-01T10:00:00"),
            ("14-Juin-22 10:00:00", "2022-06-14T10:00:00"),
            ("14-Juil.-22 10:00:00", "2022-07-14T10:00:00"),
            ("14-Août-22 10:00:00", "2022-08-14T10:00:00"),
            ("31-Ene-22 10:00:00", "2022-01-31T10:00:00"),
            ("31-янв-22 10:00:00", "2022-01-31T10:00:00"),
            ("21-4月-24 10:00:00", "2024-04-21T10:00:00"),
            ("16-2月 -13 05:00:50", "2013-02-16T05:00:50"),
            ("14-Mars -22 10:00", "2022-03-14T10:00:00"),
            ("21-04-24 10:00:00", "2024-04-21T10:00:00"),
            ("2024-04-21 10:00:00", "2024-04-21T10:00:00"),
        ];
        for (text, iso) in cases {
            assert_eq!(parse_timestamp(text).map(|at| at.to_string()).as_deref(), Some(iso), "{text}");
        }
    }

    #[test]
    fn invalid_timestamps_are_not_parsed() {
        for text in
            ["", "soon", "32-Jan-21 10:00:00", "04-Xyz-23 19:00:39", "04-Feb-23 25:00:00", "04-Feb-23 x"]
        {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn unit_parsers_never_panic_on_any_text(text in ".{0,40}") {
            let _ = parse_timestamp(&text);
        }
    }
}
