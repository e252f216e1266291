//! The text of workerd's configuration: the services, modules and bindings of `wrangler.toml`, and a local KV.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::Options;
use crate::manifest::Manifest;
use crate::wasm;

/// Paths of modules are searched from the root, which workerd is given as its import path.
pub(super) fn render(root: &Path, manifest: &Manifest, options: &Options) -> Result<String> {
    let reach = if options.reaches_loopback {
        r#""public", "local", "private""#
    } else {
        r#""public""#
    };
    Ok(format!(
        r#"# Made from wrangler.toml. Changes here are lost at the next start.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "kv", worker = .kv),
    (name = "state", disk = (path = ".", writable = true)),
    (name = "internet", network = (allow = [{reach}], tlsOptions = (trustBrowserCas = true))),
  ],
  extensions = [ (modules = [
    (name = "local:ratelimit", internal = true, esModule = embed "/xtask/src/workerd/ratelimit.mjs"),
  ]) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ],
);

const main :Workerd.Worker = (
  modules = [
{modules}  ],
  compatibilityDate = {date},
  compatibilityFlags = [{flags}],
  durableObjectNamespaces = [
{classes}  ],
  durableObjectStorage = (localDisk = "state"),
  bindings = [
{bindings}  ],
);

const kv :Workerd.Worker = (
  modules = [ (name = "kv.mjs", esModule = embed "/xtask/src/workerd/kv.mjs") ],
  compatibilityDate = {date},
  durableObjectNamespaces = [ (className = "Keys", uniqueKey = "kv", enableSql = true) ],
  durableObjectStorage = (localDisk = "state"),
  bindings = [ (name = "KEYS", durableObjectNamespace = "Keys") ],
);
"#,
        modules = modules(root, manifest, options)?,
        date = quote(&manifest.compatibility_date),
        flags = manifest
            .compatibility_flags
            .iter()
            .map(|flag| quote(flag))
            .collect::<Vec<_>>()
            .join(", "),
        classes = classes(manifest),
        bindings = bindings(manifest, options),
    ))
}

/// The entry first, then all that was built, then what the caller puts in their place or beside them.
fn modules(root: &Path, manifest: &Manifest, options: &Options) -> Result<String> {
    let mut names = vec![manifest.main.clone()];
    names.extend(wasm::list(root, wasm::FOLDER)?);
    let mut files: Vec<(String, String)> =
        names.into_iter().map(|name| (name.clone(), name)).collect();
    for (name, path) in &options.modules {
        let path = path
            .strip_prefix(root)
            .context("a module must stand in the repository")?;
        let path = path.to_string_lossy().into_owned();
        match files.iter_mut().find(|(known, _)| known == name) {
            Some((_, file)) => *file = path,
            None => files.push((name.clone(), path)),
        }
    }
    let mut text = String::new();
    for (name, path) in files {
        let kind = if Path::new(&name).extension().is_some_and(|e| e == "wasm") {
            "wasm"
        } else {
            "esModule"
        };
        let path = quote(&format!("/{path}"));
        let _ = writeln!(
            text,
            "    (name = {}, {kind} = embed {path}),",
            quote(&name)
        );
    }
    Ok(text)
}

fn classes(manifest: &Manifest) -> String {
    let mut text = String::new();
    for class in manifest.classes() {
        let key = quote(&format!("{}-{class}", manifest.name));
        let class = quote(class);
        let _ = writeln!(
            text,
            "    (className = {class}, uniqueKey = {key}, enableSql = true),"
        );
    }
    text
}

/// Values of the caller go through the environment, so that no secret stands in the file.
fn bindings(manifest: &Manifest, options: &Options) -> String {
    let mut text = String::new();
    for binding in &manifest.durable_objects.bindings {
        let (name, class) = (quote(&binding.name), quote(&binding.class_name));
        let _ = writeln!(
            text,
            "    (name = {name}, durableObjectNamespace = {class}),"
        );
    }
    for namespace in &manifest.kv_namespaces {
        let name = quote(&namespace.binding);
        let _ = writeln!(text, "    (name = {name}, kvNamespace = \"kv\"),");
    }
    for limit in manifest.ratelimits.iter().filter(|_| options.limits) {
        let _ = writeln!(
            text,
            "    (name = {}, wrapped = (moduleName = \"local:ratelimit\", innerBindings = [
      (name = \"limit\", json = \"{}\"), (name = \"period\", json = \"{}\"),
    ])),",
            quote(&limit.name),
            limit.simple.limit,
            limit.simple.period
        );
    }
    for (name, value) in &manifest.vars {
        if !options.variables.contains_key(name) {
            let _ = writeln!(
                text,
                "    (name = {}, text = {}),",
                quote(name),
                quote(value)
            );
        }
    }
    let given: BTreeSet<_> = options.variables.keys().collect();
    for name in given {
        let name = quote(name);
        let _ = writeln!(text, "    (name = {name}, fromEnvironment = {name}),");
    }
    text
}

/// A string of the configuration language, which writes strings as C does.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            '\n' => quoted.push_str("\\n"),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
