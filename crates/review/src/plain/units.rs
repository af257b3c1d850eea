//! Numbers, sizes and dates as people write them.

pub use twicetold_model::moment;

/// A number with its thousands set apart: `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A number and what it counts: `1 message`, `2 messages`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        if number == 1 { one } else { many }
    )
}

/// A size in decimal units: `999 bytes`, `1.5 kB`, `23.4 MB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return counted(bytes, "byte", "bytes");
    }
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut unit = 0;
    let mut scale = 1000_u128;
    // Rounded to a tenth: 999,950 bytes would read "1000.0 kB" and is 1.0 MB instead.
    while u128::from(bytes) * 10 + scale / 2 >= scale * 10_000 && unit + 1 < units.len() {
        scale *= 1000;
        unit += 1;
    }
    let tenths = (u128::from(bytes) * 10 + scale / 2) / scale;
    format!("{}.{} {}", tenths / 10, tenths % 10, units[unit])
}

/// A share in percent without rounding anything to nothing: `< 1 %`, `23 %`, `> 99 %`.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    match (u128::from(part) * 100 + u128::from(whole) / 2) / u128::from(whole) {
        0 if part > 0 => "< 1 %".to_owned(),
        100.. if part < whole => "> 99 %".to_owned(),
        rounded => format!("{rounded} %"),
    }
}

/// The same moment for people: `2001-05-14 09:30 UTC`.
pub fn moment_for_people(seconds: i64) -> Option<String> {
    let moment = moment(seconds)?;
    Some(format!("{} {} UTC", moment.get(..10)?, moment.get(11..16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(counted(1, "message", "messages"), "1 message");
        assert_eq!(counted(0, "message", "messages"), "0 messages");
    }

    #[test]
    fn sizes_have_units() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (1549, "1.5 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (23_400_000, "23.4 MB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn shares_are_never_rounded_away() {
        let cases = [
            (0, 0, "0 %"),
            (0, 9, "0 %"),
            (1, 1000, "< 1 %"),
            (1, 4, "25 %"),
            (999, 1000, "> 99 %"),
            (7, 7, "100 %"),
        ];
        for (part, whole, expected) in cases {
            assert_eq!(percent(part, whole), expected);
        }
    }

    #[test]
    fn moments_follow_the_calendar() {
        let cases = [
            (0, Some("1970-01-01T00:00:00Z")),
            (-1, Some("1969-12-31T23:59:59Z")),
            (951_782_400, Some("2000-02-29T00:00:00Z")),
            (989_832_600, Some("2001-05-14T09:30:00Z")),
            (253_402_300_799, Some("9999-12-31T23:59:59Z")),
            (253_402_300_800, None),
            (i64::MAX, None),
            (i64::MIN, None),
        ];
        for (seconds, expected) in cases {
            assert_eq!(moment(seconds).as_deref(), expected, "{seconds}");
        }
        assert_eq!(
            moment_for_people(989_832_600).as_deref(),
            Some("2001-05-14 09:30 UTC")
        );
    }
}
