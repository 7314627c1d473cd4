//! Access from keys to the fields of a plan.

/// A field of a plan with values of type `T`.
pub trait Field<T> {
    /// Stores `value` in the field.
    fn put(&mut self, value: T);

    /// Its value as users write it; `None` if it has no value.
    fn text(&self) -> Option<String>;
}

impl<T: ToString> Field<T> for T {
    fn put(&mut self, value: T) {
        *self = value;
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl<T: ToString> Field<T> for Option<T> {
    fn put(&mut self, value: T) {
        *self = Some(value);
    }

    fn text(&self) -> Option<String> {
        self.as_ref().map(T::to_string)
    }
}

/// A list as users write it; `None` if it is empty.
pub(crate) fn listed<T: ToString>(all: &[T]) -> Option<String> {
    let all: Vec<String> = all.iter().map(T::to_string).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Makes enums usable as keys whose values are words.
macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),+ })+) => {$(
        $crate::names! {
            /// The word used in plan files.
            $name { $($variant = $word),+ }
        }

        impl $crate::plan::field::Field<&'static str> for $name {
            fn put(&mut self, word: &'static str) {
                *self = Self::from_name(word).expect("a key of words allows these only");
            }

            fn text(&self) -> Option<String> {
                Some(self.name().to_owned())
            }
        }
    )+};
}

pub(super) use words;
