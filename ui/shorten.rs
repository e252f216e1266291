//! Shortens a program without changing what it does: comments and white space go, local names become short ones.
//!
//! This is no parser. It tells names that are declared from names that are properties by the tokens around them, for
//! the plain style in which `ui/` is written: every statement ends in a semicolon or a brace, one declaration declares
//! one name or pattern, and there are no classes, labels, switches or `var`. Within one top-level declaration a name has
//! one short form wherever it stands, so inner scopes need not be known.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Word,
    /// Strings, numbers, regular expressions and the fixed parts of template literals, copied as they are.
    Literal,
    Sign,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    /// Whether the innermost open bracket is that of an object or of a pattern of one.
    in_object: bool,
    /// Which top-level declaration it belongs to, and whether it stands outside every bracket.
    region: usize,
    outside: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    Object,
    Template,
    Other,
}

const SIGNS: [&str; 19] = [
    "...", "===", "!==", "??=", "||=", "&&=", "=>", "?.", "??", "||", "&&", "<=", ">=", "++", "--",
    "+=", "-=", "*=", "**",
];
const KEYWORDS: &[&str] = &[
    "async",
    "await",
    "break",
    "catch",
    "const",
    "continue",
    "delete",
    "else",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "of",
    "return",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "void",
    "while",
];
const CONTROL: &[&str] = &["if", "for", "while", "catch"];

pub(crate) fn shorten(source: &str) -> String {
    let tokens = tokenize(source);
    let short = short_names(&tokens);
    let tokens = join_declarations(&tokens);
    let mut text = String::with_capacity(source.len());
    for (index, token) in tokens.iter().enumerate() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let touches = |before: char, after: char| {
            is_word(before) && is_word(after) || before == after && "+-/".contains(after)
        };
        if let (Some(before), Some(after)) = (text.chars().last(), token.text.chars().next())
            && touches(before, after)
        {
            text.push(' ');
        }
        // The last semicolon of a block and the last comma of a list say nothing.
        if token.text == "}" && text.ends_with([';', ',']) {
            text.pop();
        }
        let name = short
            .get(&(0, token.text))
            .or_else(|| short.get(&(token.region, token.text)));
        match name.filter(|_| is_name(&tokens, index)) {
            Some(name) if is_shorthand(&tokens, index) => text.extend([token.text, ":", name]),
            Some(name) => text.push_str(name),
            None => text.push_str(terse(&tokens, index)),
        }
    }
    text
}

/// Makes one declaration of those that follow each other. What is declared `const` is known never to be assigned, or
/// the unbuilt modules would not run, so all are `let`.
fn join_declarations<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut open = vec![false];
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let declares = token.kind == Kind::Word && matches!(token.text, "const" | "let");
        let before = joined.last().map_or("", |token| token.text);
        let starts = matches!(before, ";" | "{" | "}" | "");
        let depth = open.len() - 1;
        if declares && before == ";" && open[depth] {
            if let Some(last) = joined.last_mut() {
                last.text = ",";
            }
            continue;
        }
        if declares && starts {
            open[depth] = true;
        } else if starts && token.text != ";" {
            open[depth] = false;
        }
        match token.kind {
            Kind::Sign if matches!(token.text, "(" | "[" | "{") => open.push(false),
            Kind::Sign if matches!(token.text, ")" | "]" | "}") => drop(open.pop()),
            _ => {}
        }
        joined.push(*token);
    }
    joined
}

/// A shorter word of the same meaning.
fn terse<'a>(tokens: &[Token<'a>], index: usize) -> &'a str {
    let text = tokens[index].text;
    let is_key = tokens[index].in_object && text_at(tokens, Some(index + 1)) == ":";
    let is_word = tokens[index].kind == Kind::Word && !is_key;
    match text {
        "const" if is_word => "let",
        "true" if is_word => "!0",
        "false" if is_word => "!1",
        _ => text,
    }
}

fn tokenize(source: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut brackets = Vec::new();
    let mut rest = source;
    // Region 0 is that of the names which every region knows.
    let mut region = 1;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        if rest.starts_with("//") || rest.starts_with("/*") {
            let end = if rest.starts_with("//") { "\n" } else { "*/" };
            rest = rest.split_once(end).map_or("", |(_, after)| after);
            continue;
        }
        let before = tokens.last().copied();
        let resumes = first == '}' && brackets.last() == Some(&Bracket::Template);
        let (kind, length) = if first == '`' || resumes {
            (Kind::Literal, template_part(rest))
        } else if first == '"' {
            (Kind::Literal, quoted(rest, '"'))
        } else if first == '/' && before.is_none_or(expects_value) {
            let body = quoted(rest, '/');
            (
                Kind::Literal,
                body + rest[body..].find(|c: char| !c.is_alphabetic()).unwrap_or(0),
            )
        } else if first.is_alphanumeric() || first == '_' || first == '$' {
            let part = |c: char| {
                c.is_alphanumeric() || c == '_' || c == '$' || c == '.' && first.is_ascii_digit()
            };
            let kind = if first.is_ascii_digit() {
                Kind::Literal
            } else {
                Kind::Word
            };
            (kind, rest.find(|c| !part(c)).unwrap_or(rest.len()))
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            (Kind::Sign, sign.map_or(first.len_utf8(), |sign| sign.len()))
        };
        let text = &rest[..length];
        rest = &rest[length..];
        if resumes || kind == Kind::Sign && matches!(text, ")" | "]" | "}") {
            brackets.pop();
        }
        let in_object = brackets.last() == Some(&Bracket::Object);
        let outside = brackets.is_empty();
        tokens.push(Token {
            kind,
            text,
            in_object,
            region,
            outside,
        });
        region += usize::from(outside && matches!(text, ";" | "}"));
        if kind == Kind::Literal && text.ends_with("${") && (first == '`' || resumes) {
            brackets.push(Bracket::Template);
        } else if kind == Kind::Sign
            && text == "{"
            && before.is_some_and(|before| opens_object(before))
        {
            brackets.push(Bracket::Object);
        } else if kind == Kind::Sign && matches!(text, "(" | "[" | "{") {
            brackets.push(Bracket::Other);
        }
    }
    tokens
}

/// The length of a literal with its quotes. A quote in a character class of a regular expression ends nothing.
fn quoted(text: &str, quote: char) -> usize {
    let mut in_class = false;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == quote && !in_class {
            return at + 1;
        } else {
            escaped = c == '\\';
            in_class = quote == '/' && (c == '[' || in_class && c != ']');
        }
    }
    text.len()
}

/// From a backtick or the brace that closes an expression to the next expression or the closing backtick.
fn template_part(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && c == '`' {
            return at + 1;
        }
        if !escaped && text[at..].starts_with("${") {
            return at + 2;
        }
        escaped = !escaped && c == '\\';
    }
    text.len()
}

/// Whether a value may come next, so that a slash begins a regular expression.
fn expects_value(before: Token) -> bool {
    match before.kind {
        Kind::Word => KEYWORDS.contains(&before.text),
        Kind::Literal => before.text.ends_with("${"),
        Kind::Sign => !matches!(before.text, ")" | "]" | "}"),
    }
}

fn opens_object(before: Token) -> bool {
    match before.kind {
        Kind::Word => matches!(before.text, "return" | "const" | "let" | "of" | "in"),
        Kind::Literal => false,
        Kind::Sign => !matches!(before.text, ")" | "=>" | ";" | "{" | "}"),
    }
}

fn text_at<'a>(tokens: &[Token<'a>], index: Option<usize>) -> &'a str {
    index
        .and_then(|index| tokens.get(index))
        .map_or("", |token| token.text)
}

/// Whether the token is a word that names a variable here, and no property.
fn is_name(tokens: &[Token], index: usize) -> bool {
    let token = tokens[index];
    let before = text_at(tokens, index.checked_sub(1));
    let after = text_at(tokens, Some(index + 1));
    let is_key = token.in_object && matches!(before, "{" | ",") && matches!(after, ":" | "(");
    token.kind == Kind::Word
        && !KEYWORDS.contains(&token.text)
        && !matches!(before, "." | "?.")
        && !is_key
}

/// Whether the token is property and variable at once, as in `{ name }`.
fn is_shorthand(tokens: &[Token], index: usize) -> bool {
    let before = text_at(tokens, index.checked_sub(1));
    tokens[index].in_object
        && matches!(before, "{" | ",")
        && matches!(text_at(tokens, Some(index + 1)), "," | "}" | "=")
}

/// What is known of a name while short ones are dealt out.
struct Use {
    count: usize,
    first: usize,
    last: usize,
}

/// A short name for each declared one by its region, the shortest for the most frequent. Two names of a region share a
/// short one when all their uses lie in functions of which neither is inside the other.
fn short_names<'a>(tokens: &[Token<'a>]) -> BTreeMap<(usize, &'a str), String> {
    let (declared, functions) = declarations(tokens);
    let at = |index: &usize| tokens[*index];
    let shared: BTreeSet<&str> = declared
        .iter()
        .map(at)
        .filter(|token| token.outside)
        .map(|token| token.text)
        .collect();
    let local: BTreeSet<_> = declared
        .iter()
        .map(at)
        .map(|token| (token.region, token.text))
        .collect();
    let mut taken: BTreeSet<&str> = KEYWORDS.iter().copied().chain(["do"]).collect();
    let mut uses: BTreeMap<(usize, &str), Use> = BTreeMap::new();
    for index in (0..tokens.len()).filter(|index| is_name(tokens, *index)) {
        let Token { region, text, .. } = tokens[index];
        let region = if shared.contains(text) { 0 } else { region };
        if region == 0 || local.contains(&(region, text)) {
            let entry = uses.entry((region, text)).or_insert(Use {
                count: 0,
                first: index,
                last: index,
            });
            entry.count += 1;
            entry.last = index;
        } else {
            taken.insert(text);
        }
    }
    let letters = || ('a'..='z').chain('A'..='Z');
    let pairs = letters().flat_map(|first| letters().map(move |second| format!("{first}{second}")));
    let free: Vec<_> = letters()
        .map(String::from)
        .chain(pairs)
        .filter(|name| !taken.contains(name.as_str()))
        .collect();
    let mut by_count: Vec<_> = uses.into_iter().collect();
    by_count
        .sort_by_key(|((region, text), seen)| (*region != 0, std::cmp::Reverse(seen.count), *text));
    let mut dealt: Vec<(&str, usize, usize)> = Vec::new();
    let mut short = BTreeMap::new();
    for ((region, text), Use { first, last, .. }) in by_count {
        // Shared names take two letters: the single ones serve once in every function.
        let fits = |name: &&String| region != 0 || name.len() > 1;
        let whole = (0, tokens.len());
        let around = functions
            .iter()
            .filter(|(start, end)| region != 0 && *start <= first && last <= *end);
        let (start, end) = *around.max_by_key(|(start, _)| *start).unwrap_or(&whole);
        let overlaps = |used: &(&str, usize, usize), name: &str| {
            used.0 == name && used.1 <= end && start <= used.2
        };
        let name = free
            .iter()
            .filter(fits)
            .find(|name| !dealt.iter().any(|used| overlaps(used, name)));
        if let Some(name) = name {
            dealt.push((name, start, end));
            short.insert((region, text), name.clone());
        }
    }
    short
}

/// The tokens that declare a name, and the functions from the bracket of their parameters to the end of their body.
fn declarations(tokens: &[Token]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut names = Vec::new();
    let mut functions = Vec::new();
    for index in 0..tokens.len() {
        let text = tokens[index].text;
        let before = text_at(tokens, index.checked_sub(1));
        let range = match text {
            "const" | "let" | "function" => match text_at(tokens, Some(index + 1)) {
                "{" | "[" => index + 1..closing(tokens, index + 1),
                _ => index + 1..index + 2,
            },
            "(" => {
                let end = closing(tokens, index);
                let follows_word = !CONTROL.contains(&before)
                    && before.ends_with(|c: char| c == '"' || c.is_alphanumeric());
                let body = match text_at(tokens, Some(end + 1)) {
                    "=>" => end + 2,
                    "{" if before == "catch" || follows_word => end + 1,
                    _ => continue,
                };
                if text_at(tokens, Some(body)) == "{" {
                    functions.push((index, closing(tokens, body)));
                }
                index..end
            }
            "=>" if before != ")" => index.saturating_sub(1)..index,
            _ => continue,
        };
        names.extend(range.filter(|index| is_name(tokens, *index)));
    }
    (names, functions)
}

/// The index of the bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        let text = token.text;
        depth += usize::from(
            token.kind == Kind::Sign && matches!(text, "(" | "[" | "{") || text.ends_with("${"),
        );
        let closes = token.kind == Kind::Sign && matches!(text, ")" | "]" | "}");
        depth -= usize::from(closes || token.kind == Kind::Literal && text.starts_with('}'));
        if depth == 0 {
            return index;
        }
    }
    tokens.len()
}
