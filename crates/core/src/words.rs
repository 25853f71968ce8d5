//! Enums that are stored as words.

/// Spells the variants of an enum, in declaration order, as the record and the API do. What the enum is called
/// before its variants appears in the error about an unknown word.
#[macro_export]
macro_rules! words {
    ($name:ident { $($words:tt)+ }) => {
        $crate::words!(@ $name ("`{}` is none of: {}") { $($words)+ });
    };
    ($name:ident, $noun:literal { $($words:tt)+ }) => {
        $crate::words!(@ $name (concat!("unknown ", $noun, " `{}`; expected one of {}")) { $($words)+ });
    };
    (@ $name:ident ($($unknown:tt)+) { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// Every variant, in declaration order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The spelling in the record and the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    other => Err(format!($($unknown)+, other, [$($word),+].join(", "))),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
