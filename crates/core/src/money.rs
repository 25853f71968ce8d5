//! Decimal amounts. Prices, quantities and money are separate types: only price times quantity gives money.

use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive as _, ToPrimitive as _};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

macro_rules! amount {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Serialized as an exact decimal string; the API converts it to a JSON number.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub Decimal);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(Decimal::ZERO);

            /// The nearest decimal of a finite number; `None` for NaN, infinities and magnitudes beyond a
            /// decimal's range.
            #[must_use]
            pub fn from_f64(value: f64) -> Option<Self> {
                Decimal::from_f64(value).map(|decimal| Self(decimal.normalize()))
            }

            /// The nearest `f64`, for statistics and API responses; never for the books.
            #[must_use]
            pub fn to_f64(self) -> f64 {
                // A negative zero plus zero is zero.
                self.0.to_f64().unwrap_or(f64::NAN) + 0.0
            }

            /// Whether it is exactly zero.
            #[must_use]
            pub fn is_zero(self) -> bool {
                self.0.is_zero()
            }

            /// Whether it is above zero.
            #[must_use]
            pub fn is_positive(self) -> bool {
                self.0 > Decimal::ZERO
            }

            /// Whether it is below zero.
            #[must_use]
            pub fn is_negative(self) -> bool {
                self.0 < Decimal::ZERO
            }

            /// Its magnitude.
            #[must_use]
            pub fn abs(self) -> Self {
                Self(self.0.abs())
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Neg for $name {
            type Output = Self;
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, |total, item| total + item)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0.normalize(), f)
            }
        }

        impl From<Decimal> for $name {
            fn from(value: Decimal) -> Self {
                Self(value)
            }
        }

        impl From<i64> for $name {
            fn from(value: i64) -> Self {
                Self(Decimal::from(value))
            }
        }
    };
}

amount!(
    /// A price: money per share or unit.
    Price
);
amount!(
    /// A quantity of shares or units; negative is short.
    Quantity
);
amount!(
    /// An amount of the account's currency.
    Money
);

impl Mul<Quantity> for Price {
    type Output = Money;
    fn mul(self, quantity: Quantity) -> Money {
        Money(self.0 * quantity.0)
    }
}

impl Mul<Price> for Quantity {
    type Output = Money;
    fn mul(self, price: Price) -> Money {
        price * self
    }
}

impl Mul<Decimal> for Money {
    type Output = Self;
    fn mul(self, factor: Decimal) -> Self {
        Self(self.0 * factor)
    }
}
