//! One way to name the values of an enum.

/// Gives enums all their values, the name of each, and the value of a name; a comment before an enum says what its names are.
#[macro_export]
macro_rules! names {
    ($($(#[$what:meta])* $enum:ident { $($variant:ident = $name:literal),+ })+) => {$(
        impl $enum {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            $(#[$what])*
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The value that `name` is the name of.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    )+};
}
