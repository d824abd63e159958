//! Values of options, and errors in them.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use thiserror::Error;

/// The reason that an option rejects a value.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum ValueError {
    /// The form that the option takes.
    #[error("expected {0}")]
    Form(&'static str),
    /// The form that the option takes, and the text.
    #[error("expected {0}, not `{1}`")]
    NotOfForm(&'static str, String),
    #[error("expected a whole number{}", bounds(range, text))]
    NotWhole { range: RangeInclusive<u64>, text: String },
    #[error("{first} is above {last}")]
    Backwards { first: u32, last: u32 },
    #[error("`{0}` is empty: SIZE is 0")]
    NoSize(String),
    #[error("`{0}` has no bytes: N is 0")]
    NoBytes(String),
    #[error("`{text}` is empty: {end:#x} is not above {first:#x}")]
    Empty { text: String, first: u64, end: u64 },
    /// `left`: bytes from `first` to the end of memory.
    #[error("`{text}` passes the end of memory, 2^64; expected at most {left:#x} bytes from {first:#x} on")]
    PastMemory { text: String, first: u64, left: u128 },
    #[error("no dialect {text:?}; there are {names}")]
    Dialect { text: String, names: String },
}

/// ` from 0 to 65535`; the largest number of 64 bits only where it matters.
fn bounds(range: &RangeInclusive<u64>, text: &str) -> String {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_too_large = is_number && text.parse::<u64>().is_err();
    match (*range.start(), *range.end()) {
        (0, u64::MAX) if !is_too_large => String::new(),
        (1.., u64::MAX) if !is_too_large => format!(", at least {}", range.start()),
        (first, last) => format!(" from {first} to {last}"),
    }
}

/// The parser of whole numbers of an unsigned type, at least `least`.
pub(super) fn whole<T: TryFrom<u64>>(
    least: u64,
) -> impl Fn(&str) -> Result<T, ValueError> + Clone + Send + Sync + 'static {
    let unused = u64::BITS.saturating_sub(8 * u32::try_from(size_of::<T>()).unwrap_or_default());
    let range = least..=u64::MAX >> unused;
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        let number = number.and_then(|number: u64| T::try_from(number).ok());
        number.ok_or_else(|| ValueError::NotWhole { range: range.clone(), text: text.to_owned() })
    }
}

/// An address to listen on.
pub(super) fn ip_address(text: &str) -> Result<IpAddr, ValueError> {
    text.parse().map_err(|_| ValueError::Form("an IP address, 127.0.0.1 or ::1"))
}

#[cfg(test)]
mod tests {
    use super::{ip_address, whole};

    fn refused<T: TryFrom<u64>>(least: u64, text: &str) -> String {
        whole::<T>(least)(text).err().unwrap().to_string()
    }

    #[test]
    fn numbers_have_the_range_of_their_type() {
        assert_eq!(whole::<u16>(0)("65535"), Ok(65535));
        assert_eq!(refused::<u16>(0, "65536"), "expected a whole number from 0 to 65535");
        assert_eq!(refused::<u16>(1, "abc"), "expected a whole number from 1 to 65535");
        assert_eq!(whole::<u64>(0)("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(refused::<u64>(0, "x"), "expected a whole number");
        assert_eq!(refused::<u64>(1, "0"), "expected a whole number, at least 1");
        let past = refused::<u64>(0, "18446744073709551616");
        assert_eq!(past, "expected a whole number from 0 to 18446744073709551615");
        let past = refused::<u64>(1, "99999999999999999999999");
        assert_eq!(past, "expected a whole number from 1 to 18446744073709551615");
        assert!(ip_address("::1").is_ok());
        let words = "expected an IP address, 127.0.0.1 or ::1";
        assert_eq!(ip_address("here").unwrap_err().to_string(), words);
    }
}
