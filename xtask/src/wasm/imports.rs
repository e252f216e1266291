//! The names of the functions that the Wasm imports from its script.
//!
//! `wasm-bindgen` ends each with a hash, which no compression makes smaller: 2 KB of Wasm after gzip. Here they are numbered.

use std::collections::HashMap;
use std::convert::Infallible;

use anyhow::{Result, anyhow};
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{ImportSection, Module};
use wasmparser::{ImportSectionReader, Parser, Payload};

const HASH_DIGITS: usize = 16;

/// The same module and script with short names between them.
pub(super) fn shorten(wasm: &[u8], script: &str) -> Result<(Vec<u8>, String)> {
    let mut names = Numbered::default();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(section) = payload? {
            for import in section.into_imports() {
                names.add(import?.name);
            }
        }
    }
    let mut text = script.to_owned();
    for (long, short) in &names.0 {
        text = text.replace(&format!("{long}:"), &format!("{short}:"));
    }
    let mut module = Module::new();
    names
        .parse_core_module(&mut module, Parser::new(0), wasm)
        .map_err(|error| anyhow!("the imports cannot be renamed: {error}"))?;
    Ok((module.finish(), text))
}

/// New names by the old ones.
#[derive(Default)]
struct Numbered(HashMap<String, String>);

impl Numbered {
    fn add(&mut self, name: &str) {
        let is_hashed = name.rsplit_once('_').is_some_and(|(_, end)| {
            end.len() == HASH_DIGITS && end.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        if is_hashed {
            let number = self.0.len();
            self.0.insert(name.to_owned(), format!("f{number}"));
        }
    }
}

impl Reencode for Numbered {
    type Error = Infallible;

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        for import in section.into_imports() {
            let import = import?;
            let kind = self.entity_type(import.ty)?;
            let name = self.0.get(import.name).map_or(import.name, String::as_str);
            imports.import(import.module, name, kind);
        }
        Ok(())
    }
}
