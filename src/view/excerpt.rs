//! The beginning of a text as one line, for labels and headings.

/// At most `characters_max` characters of `text` on one line, with an ellipsis for the rest. Characters that would turn the
/// direction of what stands beside them, or that show nothing, are left out.
pub(crate) fn line(text: &str, characters_max: usize) -> String {
    let mut line = String::new();
    let mut room = characters_max;
    let mut is_after_space = true;
    for character in text.chars() {
        if is_unseen(character) {
            continue;
        }
        let is_space = character.is_whitespace() || character.is_control();
        if is_space && is_after_space {
            continue;
        }
        is_after_space = is_space;
        if room == 0 {
            if is_space {
                continue;
            }
            line.truncate(line.trim_end().len());
            line.push('…');
            return line;
        }
        room = room.saturating_sub(1);
        line.push(if is_space { ' ' } else { character });
    }
    line.truncate(line.trim_end().len());
    line
}

/// Bidirectional controls, and characters without a width.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::line;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(line(text, 5), expected);
    }

    #[test]
    fn a_line_is_short_and_flat() {
        check("", "");
        check("abcde", "abcde");
        check("abcde  \n", "abcde");
        check("abcdef", "abcde…");
        check(" a\r\n\tb ", "a b");
        check("abcd efg", "abcd…");
        check("\u{202e}ab\u{0}c", "ab c");
        check("思考思考思考", "思考思考思…");
    }
}
