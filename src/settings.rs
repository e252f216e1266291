//! The settings that a tool call obeys, read strictly: a value that cannot be understood is a problem, never a guess.
//!
//! Where the values come from (the Worker's environment, the process's) is left to the hosts.

use serde::{Deserialize, Serialize};

pub const THOUGHT_CHARACTERS_MAX: u32 = 20_000;
const THOUGHT_CHARACTERS_MIN: u32 = 100;
const RETENTION_DAYS_MAX: u32 = 36_500;
const LOOP_GUARD_AT_DEFAULT: u32 = 30;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Days that a sequence lives after its last thought; 0 keeps it until it is deleted.
    pub retention_days: u32,
    pub loop_guard: LoopGuard,
    /// The number of thoughts at which the loop guard first speaks.
    pub loop_guard_at: u32,
    pub max_thought_characters: u32,
    /// Revisions of one thought; 0 sets no limit.
    pub max_revisions: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopGuard {
    Off,
    Advise,
    Enforce,
}

/// A setting that cannot be understood. The value is not repeated: the variable may hold a secret by mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub name: &'static str,
    pub reason: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            retention_days: 0,
            loop_guard: LoopGuard::Advise,
            loop_guard_at: LOOP_GUARD_AT_DEFAULT,
            max_thought_characters: THOUGHT_CHARACTERS_MAX,
            max_revisions: 0,
        }
    }
}

impl Settings {
    /// Reads the variables by name. A variable that is absent or blank keeps its default.
    pub fn parse(lookup: impl Fn(&str) -> Option<String>) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let default = Self::default();
        let mut integer = |name: &'static str, min: u32, max: u32, default: u32| {
            let Some(text) = given(&lookup, name) else {
                return default;
            };
            match text.parse::<u32>() {
                Ok(value) if (min..=max).contains(&value) => value,
                _ => {
                    problems.push(Problem {
                        name,
                        reason: format!("must be a whole number from {min} to {max}"),
                    });
                    default
                }
            }
        };
        let mut settings = Self {
            retention_days: integer("THOUGHT_RETENTION_DAYS", 0, RETENTION_DAYS_MAX, 0),
            loop_guard: default.loop_guard,
            loop_guard_at: integer("LOOP_GUARD_AT", 1, 1_000_000, LOOP_GUARD_AT_DEFAULT),
            max_thought_characters: integer(
                "MAX_THOUGHT_CHARACTERS",
                THOUGHT_CHARACTERS_MIN,
                THOUGHT_CHARACTERS_MAX,
                THOUGHT_CHARACTERS_MAX,
            ),
            max_revisions: integer("MAX_REVISIONS", 0, 1_000_000, 0),
        };
        match given(&lookup, "LOOP_GUARD").as_deref() {
            None => {}
            Some("off") => settings.loop_guard = LoopGuard::Off,
            Some("advise") => settings.loop_guard = LoopGuard::Advise,
            Some("enforce") => settings.loop_guard = LoopGuard::Enforce,
            Some(_) => problems.push(Problem {
                name: "LOOP_GUARD",
                reason: "must be off, advise or enforce".to_owned(),
            }),
        }
        (settings, problems)
    }
}

fn given(lookup: impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    lookup(name)
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{LoopGuard, Settings};

    #[track_caller]
    fn check(name: &'static str, value: &str, understood: bool) -> Settings {
        let (settings, problems) =
            Settings::parse(|asked| (asked == name).then(|| value.to_owned()));
        assert_eq!(
            problems.is_empty(),
            understood,
            "{name}={value}: {problems:?}"
        );
        for problem in problems {
            assert_eq!(problem.name, name);
        }
        settings
    }

    #[test]
    fn values_are_read_strictly() {
        assert_eq!(
            check("THOUGHT_RETENTION_DAYS", " 7 ", true).retention_days,
            7
        );
        assert_eq!(check("THOUGHT_RETENTION_DAYS", "", true).retention_days, 0);
        for junk in ["7days", "-3", "abc", "1.5", "36501", "0x10"] {
            assert_eq!(
                check("THOUGHT_RETENTION_DAYS", junk, false),
                Settings::default()
            );
        }
        assert_eq!(
            check("LOOP_GUARD", "enforce", true).loop_guard,
            LoopGuard::Enforce
        );
        check("LOOP_GUARD", "on", false);
        check("LOOP_GUARD_AT", "0", false);
        check("MAX_THOUGHT_CHARACTERS", "99", false);
        check("MAX_THOUGHT_CHARACTERS", "20001", false);
        assert_eq!(check("MAX_REVISIONS", "3", true).max_revisions, 3);
    }
}
