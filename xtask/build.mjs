// Builds the Worker wherever `npm run build` or wrangler starts it, also on Cloudflare's build image, which has no Rust.
//
// 1. The branch that releases push brings the built Worker with it: while no source has changed since, nothing is built.
// 2. Where cargo is, `cargo xtask build` builds.
// 3. Where it is not, and only on Cloudflare's image, rustup brings it first.
//
// `--seal` notes what `build/` was built from; the release workflow calls it before it pushes that branch.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const seal = join(root, "build", "built-from");
/** All that the built Worker depends on. */
const sources = ["src", "ui", "build.rs", "Cargo.toml", "Cargo.lock", ".cargo", "xtask/src/wasm.rs"];

function* files(path) {
  if (!statSync(join(root, path)).isDirectory()) return yield path;
  for (const name of readdirSync(join(root, path)).sort()) yield* files(`${path}/${name}`);
}

/** The same on every system: names with slashes, and no difference between line ends. */
function digest() {
  const hash = createHash("sha256");
  for (const path of sources.flatMap((path) => [...files(path)])) {
    hash.update(`${path}\n${readFileSync(join(root, path), "utf8").replaceAll("\r\n", "\n")}\0`);
  }
  return hash.digest("hex");
}

function runs(program) {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function bringRust() {
  const [, version] = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^rust-version = "([\d.]+)"$/m);
  console.log(`cargo is missing: installing Rust ${version}`);
  const install = `curl --proto =https --tlsv1.2 --silent --show-error --fail https://sh.rustup.rs | sh -s -- -y --no-modify-path --profile minimal --default-toolchain ${version} --target wasm32-unknown-unknown`;
  execFileSync("bash", ["-o", "pipefail", "-c", install], { stdio: "inherit" });
}

function build() {
  if (existsSync(seal) && readFileSync(seal, "utf8").trim() === digest()) {
    console.log("build/ holds the Worker of these sources");
    return;
  }
  // A rustup that an earlier command installed is not in the PATH of this one.
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  process.env.PATH = [process.env.PATH, join(cargoHome, "bin")].join(delimiter);
  if (!runs("cargo")) {
    if (!process.env.WORKERS_CI) throw "cargo is not installed or not in PATH: see https://rustup.rs";
    bringRust();
  }
  execFileSync("cargo", ["xtask", "build"], { cwd: root, stdio: "inherit" });
}

try {
  if (process.argv[2] === "--seal") writeFileSync(seal, `${digest()}\n`);
  else build();
} catch (error) {
  console.error(`error: ${error.message ?? error}`);
  process.exit(1);
}
