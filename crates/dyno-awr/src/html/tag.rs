//! The HTML elements that form tables and titles.

/// The role of an element in a report.
#[derive(Clone, Copy)]
pub(super) enum Tag {
    Table,
    Row,
    Cell,
    Head,
    Heading,
    Break,
    Item,
    List,
    Link,
    Preformatted,
    Other,
}

impl Tag {
    /// The role of the element of this name.
    pub(super) fn of(name: &str) -> Self {
        // Nearly all tags are these.
        match name {
            "td" => return Self::Cell,
            "tr" => return Self::Row,
            _ => {}
        }
        let mut buffer = [0u8; 8];
        let bytes = name.as_bytes();
        let Some(lower) = buffer.get_mut(..bytes.len()) else { return Self::Other };
        lower.copy_from_slice(bytes);
        lower.make_ascii_lowercase();
        match &*lower {
            b"table" => Self::Table,
            b"tr" => Self::Row,
            b"td" => Self::Cell,
            b"th" => Self::Head,
            b"h1" | b"h2" | b"h3" | b"h4" => Self::Heading,
            b"p" | b"br" | b"div" | b"hr" | b"body" | b"title" | b"head" => Self::Break,
            b"li" => Self::Item,
            b"ul" | b"ol" => Self::List,
            b"a" => Self::Link,
            b"pre" => Self::Preformatted,
            _ => Self::Other,
        }
    }
}
