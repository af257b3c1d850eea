//! The date at which a server took a message in, as IMAP writes it: `17-Jul-1996 02:44:25 -0700`.

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Seconds since 1970.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let mut parts = text.split_ascii_whitespace();
    let (date, time, zone) = (parts.next()?, parts.next()?, parts.next()?);
    let mut date = date.split('-');
    let day: i64 = number(date.next()?)?;
    let month = date.next()?;
    let month = MONTHS
        .iter()
        .position(|name| name.eq_ignore_ascii_case(month))?;
    let year: i64 = number(date.next()?)?;
    let mut time = time.split(':');
    let mut next = || number(time.next()?);
    let (hour, minute, second) = (next()?, next()?, next()?);
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let zone = number(zone.get(1..)?)?;
    let fits = (1..=31).contains(&day)
        && (1..=9999).contains(&year)
        && hour < 24
        && minute < 60
        && second <= 60
        && zone <= 2400;
    if !fits || parts.next().is_some() {
        return None;
    }
    let offset = sign * (zone / 100 * 3600 + zone % 100 * 60);
    let days = days_from_civil(year, month as i64 + 1, day);
    Some(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
}

/// The date in UTC; one outside the years 1 to 9999 is moved to the nearest end.
pub(crate) fn format(seconds: i64) -> String {
    let seconds = seconds.clamp(-62_135_596_800, 253_402_300_799);
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let rest = seconds.rem_euclid(86_400);
    let name = MONTHS[(month - 1) as usize % 12];
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{day:02}-{name}-{year:04} {hour:02}:{minute:02}:{second:02} +0000")
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|c| c.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Days since 1970 of a date in the Gregorian calendar, counted in eras of 400 years from 1 March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_of_servers() {
        let cases = [
            ("17-Jul-1996 02:44:25 -0700", Some(837_596_665)),
            (" 1-Jan-1970 00:00:00 +0000", Some(0)),
            ("29-Feb-2024 23:59:59 +0530", Some(1_709_231_399)),
            ("31-Dec-1969 23:59:59 +0000", Some(-1)),
            ("17-Juli-1996 02:44:25 -0700", None),
            ("17-Jul-1996 02:44:25", None),
            ("17-Jul-1996 25:44:25 +0000", None),
            ("", None),
            ("1-Jan-1970 00:00:00 é0000", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(parse(text), seconds, "{text}");
        }
    }

    proptest! {
        #[test]
        fn dates_come_back(seconds in -62_135_596_800i64..=253_402_300_799, text in "\\PC{0,30}") {
            prop_assert_eq!(parse(&format(seconds)), Some(seconds));
            parse(&text);
        }
    }
}
