//! Dates of mail headers and of JSON, to seconds since 1970.

/// The number of a month, by the first three letters of its name.
fn month(name: &str) -> Option<i64> {
    Some(match name {
        "jan" => 1,
        "feb" => 2,
        "mar" => 3,
        "apr" => 4,
        "may" => 5,
        "jun" => 6,
        "jul" => 7,
        "aug" => 8,
        "sep" => 9,
        "oct" => 10,
        "nov" => 11,
        "dec" => 12,
        _ => return None,
    })
}

/// The hours of a time zone from Greenwich, by its name; zones that are not named here count as Greenwich.
fn zone_hours(name: &str) -> Option<i64> {
    Some(match name {
        "pst" => -8,
        "mst" | "pdt" => -7,
        "cst" | "mdt" => -6,
        "est" | "cdt" => -5,
        "edt" => -4,
        "bst" | "met" | "cet" => 1,
        "mest" | "cest" => 2,
        "msk" => 3,
        "jst" | "kst" => 9,
        _ => return None,
    })
}

/// What follows this many characters is no date.
const LONGEST: usize = 200;

#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    time: Option<i64>,
    offset: Option<i64>,
    afternoon: Option<bool>,
}

/// Reads a date as in RFC 5322, as `asctime` writes it, or as in ISO 8601.
pub(super) fn parse(text: &str) -> Option<i64> {
    let mut parts = Parts::default();
    let mut text = without_comments(text);
    text.make_ascii_lowercase();
    for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        parts.word(word)?;
    }
    parts.seconds()
}

fn without_comments(text: &str) -> String {
    let mark = |text: &str| memchr::memchr2(b'(', b')', text.as_bytes());
    if text.len() <= LONGEST {
        // Most dates have no comment, or one at their end.
        let Some(at) = mark(text) else {
            return text.to_owned();
        };
        let comment = text[at..]
            .strip_prefix('(')
            .and_then(|c| c.strip_suffix(')'));
        if comment.is_some_and(|comment| mark(comment).is_none()) {
            return text[..at].to_owned();
        }
    }
    let mut depth = 0usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .take(LONGEST)
        .collect()
}

impl Parts {
    /// Takes in a word in lower case.
    fn word(&mut self, lower: &str) -> Option<()> {
        let first = *lower.as_bytes().first()?;
        if first.is_ascii_alphabetic() {
            return self.name(lower);
        }
        if let Some((date, time)) = lower.split_once('t')
            && iso_date(date).is_some()
        {
            self.set_iso(date)?;
            return self.set_time_with_zone(time);
        }
        if iso_date(lower).is_some() {
            return self.set_iso(lower);
        }
        if lower.contains(':') {
            return self.set_time_with_zone(lower);
        }
        if matches!(first, b'+' | b'-') && self.time.is_some() {
            self.offset = zone_digits(lower);
            return Some(());
        }
        if lower.contains('-') {
            // 14-May-2001
            lower
                .split('-')
                .filter(|piece| !piece.is_empty())
                .try_for_each(|p| self.word(p))?;
            return Some(());
        }
        if lower.matches('.').count() == 2 && self.time.is_none() && self.day.is_some() {
            return self.set_time(&lower.replace('.', ":"));
        }
        self.number(lower.trim_end_matches('.'))
    }

    fn name(&mut self, lower: &str) -> Option<()> {
        let key = lower.get(..3).unwrap_or(lower);
        if let Some(hours) = zone_hours(lower) {
            self.offset.get_or_insert(hours * 3600);
        } else if lower == "am" || lower == "pm" {
            self.afternoon = Some(lower == "pm");
        } else if let Some(month) = month(key)
            && self.month.is_none()
        {
            self.month = Some(month);
        } else if let Some((_, digits)) = lower.split_once(['+', '-'])
            && let Some(offset) = zone_digits(&lower[lower.len() - digits.len() - 1..])
        {
            // "GMT+0200"
            self.offset = Some(offset);
        }
        Some(())
    }

    fn number(&mut self, digits: &str) -> Option<()> {
        let number: i64 = digits.parse().ok()?;
        if digits.len() <= 2 && self.day.is_none() {
            self.day = Some(number);
        } else if self.year.is_none() {
            self.year = Some(match number {
                0..50 => 2000 + number,
                50..100 => 1900 + number,
                // Programs that counted years from 1900 wrote 101 for 2001.
                100..200 => 1900 + number,
                _ => number,
            });
        } else if self.time.is_some() && digits.len() == 4 {
            // A zone that lost its sign.
            self.offset = zone_digits(&format!("+{digits}"));
        } else {
            return None;
        }
        Some(())
    }

    fn set_iso(&mut self, date: &str) -> Option<()> {
        let (year, month, day) = iso_date(date)?;
        (self.year, self.month, self.day) = (Some(year), Some(month), Some(day));
        Some(())
    }

    /// `16:39:00`, `16:39:00.123Z`, `16:39:00+02:00`.
    fn set_time_with_zone(&mut self, text: &str) -> Option<()> {
        let end = text.find(['+', '-', 'z']).unwrap_or(text.len());
        let (time, zone) = text.split_at(end);
        if zone == "z" {
            self.offset = Some(0);
        } else if !zone.is_empty() {
            self.offset = zone_digits(zone);
        }
        if let Some(clock) = time.strip_suffix("am") {
            self.afternoon = Some(false);
            return self.set_time(clock);
        }
        if let Some(clock) = time.strip_suffix("pm") {
            self.afternoon = Some(true);
            return self.set_time(clock);
        }
        self.set_time(time)
    }

    fn set_time(&mut self, text: &str) -> Option<()> {
        let mut pieces = text.split(':');
        let hour: i64 = pieces.next()?.parse().ok()?;
        let minute: i64 = pieces.next()?.parse().ok()?;
        let second: i64 = match pieces.next() {
            None | Some("") => 0,
            Some(second) => second.split(['.', ',']).next()?.parse().ok()?,
        };
        let fits =
            (0..=24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
        self.time = Some(hour * 3600 + minute * 60 + second);
        fits.then_some(())
    }

    fn seconds(self) -> Option<i64> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        if !(1900..=9999).contains(&year) || !(1..=days_in(year, month)?).contains(&day) {
            return None;
        }
        let mut time = self.time.unwrap_or(0);
        match self.afternoon {
            Some(true) if time < 12 * 3600 => time += 12 * 3600,
            Some(false) if time >= 12 * 3600 => time -= 12 * 3600,
            _ => {}
        }
        Some(days_since_1970(year, month, day) * 86_400 + time - self.offset.unwrap_or(0))
    }
}

fn iso_date(text: &str) -> Option<(i64, i64, i64)> {
    let mut pieces = text.split(['-', '/']);
    let year = pieces.next().filter(|y| y.len() == 4)?.parse().ok()?;
    let month = pieces.next().filter(|m| m.len() <= 2)?.parse().ok()?;
    let day = pieces.next().filter(|d| d.len() <= 2)?.parse().ok()?;
    pieces.next().is_none().then_some((year, month, day))
}

/// `+0200`, `-08:00`, `+2` in seconds.
fn zone_digits(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text.chars().filter(char::is_ascii_digit).take(5).collect();
    let number: i64 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() <= 2 {
        (number, 0)
    } else {
        (number / 100, number % 100)
    };
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_in(year: i64, month: i64) -> Option<i64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    Some(match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    })
}

/// Days of the proleptic Gregorian calendar, counted in years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}
