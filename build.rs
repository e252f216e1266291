//! Inlines `ui/` into one HTML document per page, so that the card needs neither Node nor a network.
//!
//! A page is an ordinary HTML file which a browser can also open unbuilt: its stylesheets are `<link>` lines and its
//! program is one `<script type="module">` line. Imports are followed depth first, so a module always stands behind
//! what it uses, and all modules share one function scope. That is sound because the build refuses two modules that
//! declare the same name, and every form of import and export but the two plain ones.

// Cargo reads a build script's instructions from standard output.
#![allow(clippy::print_stdout)]
// A mistake here stops the build, which is what a build script is to do.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

#[path = "ui/shorten.rs"]
mod shorten;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Hosts keep a copy of the document for every card in a conversation.
const PAGE_BYTES_MAX: usize = 48 * 1024;
const PAGES: [&str; 1] = ["card.html"];

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("cargo::rerun-if-changed=ui");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for page in PAGES {
        let document = inline(Path::new("ui"), page)?;
        if document.len() > PAGE_BYTES_MAX {
            return Err(format!(
                "ui/{page} inlines to {} bytes, more than {PAGE_BYTES_MAX}",
                document.len()
            )
            .into());
        }
        fs::write(out.join(page), document)?;
    }
    Ok(())
}

/// One self-contained document from the page `name` in the folder `ui`.
fn inline(ui: &Path, name: &str) -> Outcome<String> {
    let mut document = String::new();
    for line in read(&ui.join(name))?.lines().map(str::trim) {
        if let Some(sheet) = between(line, r#"<link rel="stylesheet" href=""#, r#"">"#) {
            document.push_str("<style>");
            document.push_str(&style(&read(&ui.join(sheet))?));
            document.push_str("</style>\n");
        } else if let Some(entry) =
            between(line, r#"<script type="module" src=""#, r#""></script>"#)
        {
            let mut program = Program::default();
            program.add(ui, entry)?;
            document.push_str("<script>(()=>{\"use strict\";");
            document.push_str(&shorten::shorten(&program.text));
            document.push_str("})()</script>\n");
        } else if !line.is_empty() {
            document.push_str(line);
            document.push('\n');
        }
    }
    Ok(document)
}

/// Modules in the order in which they may run, joined.
#[derive(Default)]
struct Program {
    text: String,
    done: Vec<String>,
    /// Which module declares a name.
    names: BTreeMap<String, String>,
}

impl Program {
    fn add(&mut self, ui: &Path, module: &str) -> Outcome<()> {
        let module = module.trim_start_matches("./");
        if self.done.iter().any(|done| done == module) {
            return Ok(());
        }
        self.done.push(module.to_owned());
        let source = read(&ui.join(module))?;
        for line in source.lines().filter(|line| line.starts_with("import ")) {
            let used = between(line, "import { ", "\";")
                .and_then(|rest| rest.split_once(" } from \"./"))
                .ok_or_else(|| format!(r#"ui/{module}: write imports as `import {{ a, b }} from "./x.js";`: {line}"#))?;
            if used.0.contains(" as ") {
                return Err(format!("ui/{module}: an import keeps its name: {line}").into());
            }
            self.add(ui, used.1)?;
        }
        let mut in_comment = false;
        for line in source.lines() {
            let trimmed = line.trim();
            in_comment = in_comment || trimmed.starts_with("/*");
            if in_comment
                || trimmed.is_empty()
                || trimmed.starts_with("//")
                || line.starts_with("import ")
            {
                in_comment = in_comment && !trimmed.ends_with("*/");
                continue;
            }
            self.check(module, line)?;
            self.text
                .push_str(trimmed.strip_prefix("export ").unwrap_or(trimmed));
            self.text.push('\n');
        }
        Ok(())
    }

    /// Refuses what joining or stripping would change the meaning of.
    fn check(&mut self, module: &str, line: &str) -> Outcome<()> {
        // A template literal over several lines would lose its indentation.
        if line.matches('`').count() % 2 == 1 {
            return Err(
                format!("ui/{module}: a template literal ends on its own line: {line}").into(),
            );
        }
        if line.contains("</script") || line.contains("<!--") {
            return Err(format!("ui/{module}: this would end the script element: {line}").into());
        }
        let exported = line.strip_prefix("export ");
        let mut words = exported
            .unwrap_or(line)
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        let mut word = words.next().unwrap_or_default();
        if word == "async" {
            word = words.next().unwrap_or_default();
        }
        if !matches!(word, "function" | "const" | "let" | "class") {
            return match exported {
                Some(_) => {
                    Err(format!("ui/{module}: only declarations are exported: {line}").into())
                }
                None => Ok(()),
            };
        }
        let name = words.find(|word| !word.is_empty()).unwrap_or_default();
        match self.names.insert(name.to_owned(), module.to_owned()) {
            Some(other) => Err(format!("ui/{module} and ui/{other} both declare `{name}`").into()),
            None => Ok(()),
        }
    }
}

/// A stylesheet without comments, indentation and the line breaks that mean nothing.
fn style(source: &str) -> String {
    let mut text = String::new();
    let mut rest = source;
    let mut bare = String::new();
    while let Some((before, comment)) = rest.split_once("/*") {
        bare.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    bare.push_str(rest);
    for line in bare.lines().map(str::trim).filter(|line| !line.is_empty()) {
        text.push_str(line);
        if !line.ends_with(['{', '}', ';', ',']) {
            text.push('\n');
        }
    }
    // Blanks around these signs never matter in the plain style of `ui/`; those around operators in `calc()` do.
    for (plain, short) in [
        (": ", ":"),
        (", ", ","),
        (" {", "{"),
        ("{ ", "{"),
        (" }", "}"),
        (";}", "}"),
        (" > ", ">"),
    ] {
        text = text.replace(plain, short);
    }
    text
}

fn between<'a>(line: &'a str, start: &str, end: &str) -> Option<&'a str> {
    line.strip_prefix(start)?.strip_suffix(end)
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}
