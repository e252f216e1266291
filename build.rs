//! Inlines `ui/` into HTML documents, so that the card needs neither Node nor a network.
//!
//! A page is an ordinary HTML file which a browser can also open unbuilt: its stylesheets are `<link>` lines and its
//! program is one `<script type="module">` line. The card becomes one whole document. Of the page for people without
//! such a host, the view, only its own part is written out: the program puts it together with what it shares with the
//! card, which so is embedded once. Imports are followed depth first, so a module always stands behind
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
/// Between the modules that both pages use and the card's own. A statement that does nothing, and a text that stands
/// nowhere else.
const SEAM: &str = "\"|\";";
const STYLE_END: &str = "</style>\n";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("cargo::rerun-if-changed=ui");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let ui = Path::new("ui");
    let parts = program(ui)?;
    let [shared, card, view] = parts.as_slice() else {
        return Err("the seam between modules was lost".into());
    };
    let document = inline(ui, "card.html", &format!("{shared}{SEAM}{card}"))?;
    if document.len() > PAGE_BYTES_MAX {
        let bytes = document.len();
        return Err(format!("the card takes {bytes} bytes, more than {PAGE_BYTES_MAX}").into());
    }
    if document.matches(SEAM).count() != 1 {
        return Err("the seam stands elsewhere too".into());
    }
    fs::write(out.join("card.html"), document)?;
    fs::write(out.join("view.html"), inline(ui, "view.html", view)?)?;
    Ok(())
}

/// The shortened text of the modules that both pages use, of the card's own, and of the view's own. All are shortened
/// as one program, so that a name has the same short form in each part.
fn program(ui: &Path) -> Outcome<Vec<String>> {
    let mut for_card = Program::default();
    for_card.add(ui, "card.js")?;
    let mut for_view = Program::default();
    for_view.add(ui, "view.js")?;
    let is_shared = |module: &&Module| for_card.has(&module.name);
    let shared = for_view.modules.iter().filter(is_shared);
    let card = for_card
        .modules
        .iter()
        .filter(|module| !for_view.has(&module.name));
    let view = for_view.modules.iter().filter(|module| !is_shared(module));
    let mut text = String::new();
    let mut names = BTreeMap::new();
    let parts: [Vec<&Module>; 3] = [shared.collect(), card.collect(), view.collect()];
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            text.push_str(SEAM);
            text.push('\n');
        }
        for module in part {
            module.check_names(&mut names)?;
            text.push_str(&module.text);
        }
    }
    Ok(shorten::shorten(&text)
        .split(SEAM)
        .map(str::to_owned)
        .collect())
}

/// One self-contained document from the page `name` in the folder `ui`.
fn inline(ui: &Path, name: &str, program: &str) -> Outcome<String> {
    let mut document = String::new();
    for line in read(&ui.join(name))?.lines().map(str::trim) {
        if let Some(sheet) = between(line, r#"<link rel="stylesheet" href=""#, r#"">"#) {
            // Sheets that follow one another become one element.
            match document.strip_suffix(STYLE_END).map(str::len) {
                Some(end) => document.truncate(end),
                None => document.push_str("<style>"),
            }
            document.push_str(&style(&read(&ui.join(sheet))?));
            document.push_str(STYLE_END);
        } else if between(line, r#"<script type="module" src=""#, r#""></script>"#).is_some() {
            document.push_str("<script>(()=>{\"use strict\";");
            document.push_str(program);
            document.push_str("})()</script>\n");
        } else if !line.is_empty() {
            document.push_str(line);
            document.push('\n');
        }
    }
    Ok(document)
}

struct Module {
    name: String,
    /// Without imports, comments, and the word `export`.
    text: String,
}

/// Modules in the order in which they may run.
#[derive(Default)]
struct Program {
    modules: Vec<Module>,
    entered: Vec<String>,
}

impl Program {
    fn has(&self, name: &str) -> bool {
        self.modules.iter().any(|module| module.name == name)
    }

    fn add(&mut self, ui: &Path, name: &str) -> Outcome<()> {
        if self.entered.iter().any(|entered| entered == name) {
            return Ok(());
        }
        self.entered.push(name.to_owned());
        let source = read(&ui.join(name))?;
        for line in source.lines().filter(|line| line.starts_with("import ")) {
            let used = between(line, "import { ", "\";")
                .and_then(|rest| rest.split_once(" } from \"./"))
                .ok_or_else(|| {
                    format!(
                        r#"ui/{name}: write imports as `import {{ a, b }} from "./x.js";`: {line}"#
                    )
                })?;
            if used.0.contains(" as ") {
                return Err(format!("ui/{name}: an import keeps its name: {line}").into());
            }
            self.add(ui, used.1)?;
        }
        let mut text = String::new();
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
            check_line(name, line)?;
            text.push_str(line.strip_prefix("export ").unwrap_or(line));
            text.push('\n');
        }
        self.modules.push(Module {
            name: name.to_owned(),
            text,
        });
        Ok(())
    }
}

impl Module {
    /// All modules share one scope: refuses a name that two of them declare.
    fn check_names(&self, names: &mut BTreeMap<String, String>) -> Outcome<()> {
        for line in self.text.lines() {
            let line = line.strip_prefix("async ").unwrap_or(line);
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
            if !matches!(words.next(), Some("function" | "const" | "let" | "class")) {
                continue;
            }
            let name = words.find(|word| !word.is_empty()).unwrap_or_default();
            if let Some(other) = names.insert(name.to_owned(), self.name.clone()) {
                return Err(
                    format!("ui/{} and ui/{other} both declare `{name}`", self.name).into(),
                );
            }
        }
        Ok(())
    }
}

/// Refuses what joining or stripping would change the meaning of.
fn check_line(module: &str, line: &str) -> Outcome<()> {
    // A template literal over several lines would lose its indentation.
    if line.matches('`').count() % 2 == 1 {
        return Err(format!("ui/{module}: a template literal ends on its own line: {line}").into());
    }
    if line.contains("</script") || line.contains("<!--") {
        return Err(format!("ui/{module}: this would end the script element: {line}").into());
    }
    let declares = ["function ", "async function ", "const ", "let "];
    let exported = line.strip_prefix("export ");
    if exported.is_some_and(|rest| !declares.iter().any(|word| rest.starts_with(word))) {
        return Err(format!("ui/{module}: only declarations are exported: {line}").into());
    }
    Ok(())
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
