//! Text of a caller inside Markdown: it shows as it was written, and cannot change what stands around it.
//!
//! Kept are fenced code blocks that are closed, code between backticks on one line, and addresses. Everything else is shown
//! literally: no other Markdown, no HTML, no mention of anybody.

use std::fmt::Write;

/// Code in these languages would be drawn or run by a renderer.
const LANGUAGES_DROPPED: [&str; 6] = [
    "mermaid",
    "math",
    "geojson",
    "topojson",
    "stl",
    "suggestion",
];
const LANGUAGE_CHARACTERS_MAX: usize = 20;
const INDENT_MAX: usize = 32;

/// Writes `text` as a quotation: whatever it holds ends with the quotation.
pub(super) fn quote(text: &str, out: &mut String) {
    // A lone carriage return ends a line in Markdown.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.trim_end().split('\n').collect();
    let mut at: usize = 0;
    while let Some(line) = lines.get(at) {
        let next = at.saturating_add(1);
        let rest = lines.get(next..).unwrap_or_default();
        if let Some(code) = Code::open(line, rest) {
            code.write(out);
            at = next.saturating_add(code.lines.len()).saturating_add(1);
            continue;
        }
        let is_broken = rest
            .first()
            .is_some_and(|after| !after.trim().is_empty() && fence(after).is_none());
        if line.trim().is_empty() {
            out.push_str(">\n");
        } else {
            out.push_str("> ");
            begin_line(line, out);
            out.push_str(if is_broken { "\\\n" } else { "\n" });
        }
        at = next;
    }
}

/// A fenced code block that is closed.
struct Code<'a> {
    language: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Code<'a> {
    fn open(line: &'a str, rest: &[&'a str]) -> Option<Self> {
        let (mark, length, info) = fence(line)?;
        if mark == '`' && info.contains('`') {
            return None;
        }
        let end = rest.iter().position(|line| {
            fence(line).is_some_and(|(other, count, info)| {
                other == mark && count >= length && info.is_empty()
            })
        })?;
        let is_name =
            |character: char| character.is_ascii_alphanumeric() || "+#-_.".contains(character);
        let language = info.split_whitespace().next().unwrap_or_default();
        let is_kept = language.chars().all(is_name)
            && language.len() <= LANGUAGE_CHARACTERS_MAX
            && !LANGUAGES_DROPPED.contains(&language.to_ascii_lowercase().as_str());
        Some(Self {
            language: if is_kept { language } else { "" },
            lines: rest.get(..end)?.to_vec(),
        })
    }

    fn write(&self, out: &mut String) {
        let longest = self.lines.iter().map(|line| longest_run(line)).max();
        let fence = "`".repeat(longest.unwrap_or_default().saturating_add(1).max(3));
        // Writing into a String cannot fail.
        let _ = writeln!(out, "> {fence}{}", self.language);
        for line in &self.lines {
            let _ = writeln!(out, "> {line}");
        }
        let _ = writeln!(out, "> {fence}");
    }
}

/// The mark, length and info of a line that opens or closes a fence.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let bare = line.trim_start_matches(' ');
    if line.len().saturating_sub(bare.len()) > 3 {
        return None;
    }
    let mark = bare
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let info = bare.trim_start_matches(mark);
    let length = bare.len().saturating_sub(info.len());
    (length >= 3).then(|| (mark, length, info.trim()))
}

fn longest_run(line: &str) -> usize {
    line.split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

/// The first characters of a line may begin a block; spaces there may begin code.
fn begin_line(line: &str, out: &mut String) {
    let bare = line.trim_start();
    for space in line
        .chars()
        .take_while(|it| it.is_whitespace())
        .take(INDENT_MAX)
    {
        out.push_str(if space == '\t' {
            "&nbsp;&nbsp;&nbsp;&nbsp;"
        } else {
            "&nbsp;"
        });
    }
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    match bare.get(digits..).and_then(|rest| rest.chars().next()) {
        Some(mark @ ('.' | ')')) if digits > 0 => {
            out.push_str(bare.get(..digits).unwrap_or_default());
            out.push('\\');
            out.push(mark);
            inline(
                bare.get(digits.saturating_add(1)..).unwrap_or_default(),
                out,
            );
        }
        Some('#' | '-' | '+' | '=') if digits == 0 => {
            out.push('\\');
            let (mark, rest) = bare.split_at_checked(1).unwrap_or_default();
            out.push_str(mark);
            inline(rest, out);
        }
        _ => inline(bare, out),
    }
}

/// Writes text of one line.
pub(super) fn inline(text: &str, out: &mut String) {
    let mut before = ' ';
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let taken = match character {
            '`' => code(rest, out),
            'h' | 'H' if !before.is_alphanumeric() => address(rest, out),
            _ => None,
        };
        let taken = taken.unwrap_or_else(|| {
            let after = rest.get(character.len_utf8()..).unwrap_or_default();
            escape(before, character, after.chars().next(), out);
            character.len_utf8()
        });
        before = rest
            .get(..taken)
            .and_then(|it| it.chars().last())
            .unwrap_or(' ');
        rest = rest.get(taken..).unwrap_or_default();
    }
}

/// Code between two equal runs of backticks; how many bytes it took.
fn code(text: &str, out: &mut String) -> Option<usize> {
    let after = text.trim_start_matches('`');
    let length = text.len().saturating_sub(after.len());
    let mut rest = after;
    while let Some(at) = rest.find('`') {
        let from = rest.get(at..)?;
        let beyond = from.trim_start_matches('`');
        if from.len().saturating_sub(beyond.len()) == length {
            let taken = text.len().saturating_sub(beyond.len());
            out.push_str(text.get(..taken)?);
            return Some(taken);
        }
        rest = beyond;
    }
    // Nothing closes it: every backtick is a backtick.
    out.push_str(&"\\`".repeat(length));
    Some(length)
}

/// An address, in the brackets that make a link of it without a look at its characters.
fn address(text: &str, out: &mut String) -> Option<usize> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| {
        text.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    })?;
    let end = text
        .find(|it: char| it.is_whitespace() || it.is_control() || "<>\"'`\\".contains(it))
        .unwrap_or(text.len());
    let address = text
        .get(..end)?
        .trim_end_matches(|it: char| ".,;:!?)]}*_".contains(it) || !it.is_ascii());
    if address.len() <= scheme.len() {
        return None;
    }
    let _ = write!(out, "<{address}>");
    Some(address.len())
}

fn escape(before: char, character: char, after: Option<char>, out: &mut String) {
    let is_word = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    match character {
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '&' => out.push_str("&amp;"),
        // Between letters it does not emphasise.
        '_' if before.is_alphanumeric() && is_word(after) => out.push('_'),
        '\\' | '*' | '_' | '[' | ']' | '~' | '|' | '$' => {
            out.push('\\');
            out.push(character);
        }
        // In an element of its own it does not call anybody, and refers to nothing.
        '@' if is_word(after) => out.push_str("<span>@</span>"),
        '#' if after.is_some_and(|it| it.is_ascii_digit()) => out.push_str("<span>#</span>"),
        '\0' => out.push('\u{fffd}'),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::{inline, quote};

    #[track_caller]
    fn check_inline(text: &str, expected: &str) {
        let mut out = String::new();
        inline(text, &mut out);
        assert_eq!(out, expected);
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        quote(text, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_line_is_shown_literally() {
        check_inline(
            "a *b* _c_ [d](e) ~~f~~ $g$ | h",
            r"a \*b\* \_c\_ \[d\](e) \~\~f\~\~ \$g\$ \| h",
        );
        check_inline("snake_case & <b>", "snake_case &amp; &lt;b&gt;");
        check_inline(
            "@all, #12 and a@b.c",
            "<span>@</span>all, <span>#</span>12 and a<span>@</span>b.c",
        );
        check_inline(
            "`a < b` and ``x ` y`` and `open",
            r"`a < b` and ``x ` y`` and \`open",
        );
        check_inline("see https://a.b/c_d?e=*&f.", "see <https://a.b/c_d?e=*&f>.");
        check_inline("https:// x", "https:// x");
        check_inline("https://a<script>", "<https://a>&lt;script&gt;");
    }

    #[test]
    fn a_quotation_holds_whatever_is_in_it() {
        check(
            "# a\n- b\n1. c\n===\n\n    d",
            "> \\# a\\\n> \\- b\\\n> 1\\. c\\\n> \\===\n>\n> &nbsp;&nbsp;&nbsp;&nbsp;d\n",
        );
        check("a\rb\r\nc\u{2028}d", "> a\\\n> b\\\n> c\u{2028}d\n");
        check(
            "x\n```rust evil\nlet a = \"</details>\";\n```\ny",
            "> x\n> ```rust\n> let a = \"</details>\";\n> ```\n> y\n",
        );
        check("~~~mermaid\n````\n~~~", "> `````\n> ````\n> `````\n");
        check("```\nnever closed", "> \\`\\`\\`\\\n> never closed\n");
        check("</details>\n<!--", "> &lt;/details&gt;\\\n> &lt;!--\n");
    }
}
