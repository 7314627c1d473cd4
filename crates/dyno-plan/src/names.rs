//! The macro that gives the values of an enum their names.

/// Adds to each enum its list of values, `name` and `from_name`; a comment before an enum documents its names.
#[macro_export]
macro_rules! names {
    ($($(#[$what:meta])* $enum:ident { $($variant:ident = $name:literal),+ })+) => {$(
        impl $enum {
            /// All values in declaration order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            $(#[$what])*
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The value with this `name`; `None` if there is none.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    )+};
}
