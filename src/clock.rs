//! Points in time and their text form. Reading a clock is left to the hosts.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, always within what SQLite and JavaScript hold exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The last moment that RFC 3339 can write (9999-12-31T23:59:59.999Z).
    const MAX_MILLISECONDS: u64 = 253_402_300_799_999;

    pub fn from_milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds.min(Self::MAX_MILLISECONDS))
    }

    pub fn milliseconds(self) -> u64 {
        self.0
    }

    pub fn seconds(self) -> u64 {
        self.0 / 1000
    }

    #[must_use]
    pub fn plus_milliseconds(self, milliseconds: u64) -> Self {
        Self::from_milliseconds(self.0.saturating_add(milliseconds))
    }

    #[must_use]
    pub fn minus_milliseconds(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_sub(milliseconds))
    }

    /// RFC 3339 in UTC with milliseconds, as `2026-11-30T13:45:00.000Z`.
    pub fn to_rfc3339(self) -> String {
        let time = UNIX_EPOCH
            .checked_add(Duration::from_millis(self.0))
            .unwrap_or(UNIX_EPOCH);
        humantime::format_rfc3339_millis(time).to_string()
    }

    /// The form that HTTP headers have (RFC 9110 §5.6.7), as `Mon, 30 Nov 2026 13:45:00 GMT`.
    pub fn to_http_date(self) -> String {
        // The epoch began on a Thursday.
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let (text, days) = (self.to_rfc3339(), self.seconds() / 86_400);
        let part = |range| text.get(range).unwrap_or_default();
        let name = |names: &[&'static str], index: Option<usize>| {
            let found = index.and_then(|index| names.get(index).copied());
            found.unwrap_or_default()
        };
        let day = name(&DAYS, usize::try_from(days % 7).ok());
        let month: Option<usize> = part(5..7).parse().ok();
        let month = name(&MONTHS, month.and_then(|month| month.checked_sub(1)));
        let (date, year, time) = (part(8..10), part(0..4), part(11..19));
        format!("{day}, {date} {month} {year} {time} GMT")
    }

    /// Reads what [`Timestamp::to_rfc3339`] writes, and other RFC 3339 forms in UTC.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let time = humantime::parse_rfc3339(text).ok()?;
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis())
            .ok()
            .map(Self::from_milliseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn text_form_round_trips() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_796_046_300_123, "2026-11-30T13:45:00.123Z"),
            (Timestamp::MAX_MILLISECONDS, "9999-12-31T23:59:59.999Z"),
        ] {
            let time = Timestamp::from_milliseconds(milliseconds);
            assert_eq!(time.to_rfc3339(), text);
            assert_eq!(Timestamp::parse_rfc3339(text), Some(time));
        }
    }

    #[test]
    fn http_has_a_form_of_its_own() {
        for (milliseconds, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_796_046_300_123, "Mon, 30 Nov 2026 13:45:00 GMT"),
            (Timestamp::MAX_MILLISECONDS, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            assert_eq!(
                Timestamp::from_milliseconds(milliseconds).to_http_date(),
                text
            );
        }
    }

    #[test]
    fn time_cannot_leave_the_calendar() {
        let end = Timestamp::from_milliseconds(u64::MAX);
        assert_eq!(end.plus_milliseconds(1), end);
        assert_eq!(Timestamp::parse_rfc3339("yesterday"), None);
    }
}
