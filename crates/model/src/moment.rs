//! Moments as programs write them to each other (RFC 3339, UTC).

/// The moment so many seconds after 1970 in UTC, as RFC 3339 has it: `2001-05-14T09:30:00Z`;
/// `None` outside the years 0 to 9999, which no calendar in use reaches.
pub fn moment(seconds: i64) -> Option<String> {
    let days = seconds.div_euclid(86_400);
    let second = seconds.rem_euclid(86_400);
    // Count from 1 March of the year 0, so that a leap day ends a year, in 400-year cycles.
    let days = days.checked_add(719_468)?;
    let cycle = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = cycle.checked_mul(400)? + year + i64::from(month <= 2);
    (0..=9999).contains(&year).then(|| {
        let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
    })
}

/// The seconds since 1970 of what [`moment`] wrote; `None` for anything else.
pub fn seconds(moment: &str) -> Option<i64> {
    let number = |from: usize, to: usize| moment.get(from..to)?.parse::<u32>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hours, minutes, seconds) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    // Years begin in March, as above.
    let (from_march, year) = if month > 2 {
        (month - 3, year)
    } else {
        (month + 9, year - 1)
    };
    let cycle = year.div_euclid(400);
    let of_cycle = year.rem_euclid(400);
    let days = cycle * 146_097 + of_cycle * 365 + of_cycle / 4 - of_cycle / 100
        + (153 * from_march + 2) / 5
        + day
        - 1
        - 719_468;
    let found =
        days * 86_400 + i64::from(hours) * 3600 + i64::from(minutes) * 60 + i64::from(seconds);
    // Whatever is not a date of the calendar does not come back as it was.
    (self::moment(found)? == moment).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_back() {
        for second in [
            0,
            -1,
            951_782_400,
            951_868_799,
            989_832_600,
            4_107_542_400,
            253_402_300_799,
            -62_167_219_200,
        ] {
            let written = moment(second).unwrap();
            assert_eq!(seconds(&written), Some(second), "{written}");
        }
        for wrong in [
            "",
            "yesterday",
            "2001-02-29T00:00:00Z",
            "2001-05-14 09:30:00Z",
            "2001-05-14T09:30:00",
            "2001-05-14T24:00:00Z",
            "+001-05-14T09:30:00Z",
            "2001-13-01T00:00:00Z",
            "ääääääääääääääääääää",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
