//! The Worker's size against its budget: what starts it and what a deploy sends.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::wasm;

/// Bytes after gzip that the Wasm may have. Raised or lowered on purpose, in the commit that says why.
const BUDGET: &str = "xtask/wasm-budget";
/// What chance and another compiler may add, in percent.
const TOLERANCE_PERCENT: u64 = 3;

/// Prints the size, and fails when it is over the budget by more than the tolerance.
pub fn check(root: &Path) -> Result<()> {
    let wasm = root.join(wasm::FOLDER).join("index_bg.wasm");
    let bytes = fs::read(&wasm).with_context(|| format!("cannot read {}", wasm.display()))?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&bytes)?;
    let gzip = u64::try_from(encoder.finish()?.len())?;
    let budget: u64 = fs::read_to_string(root.join(BUDGET))
        .with_context(|| format!("cannot read {BUDGET}"))?
        .trim()
        .parse()
        .with_context(|| format!("{BUDGET} is not a number"))?;
    println!(
        "the Worker's Wasm: {} bytes, {gzip} after gzip; the budget is {budget}",
        bytes.len()
    );
    if is_over(gzip, budget) {
        bail!("{gzip} bytes are more than {TOLERANCE_PERCENT} % over the budget of {budget}");
    }
    Ok(())
}

fn is_over(size: u64, budget: u64) -> bool {
    size.saturating_mul(100) > budget.saturating_mul(100_u64.saturating_add(TOLERANCE_PERCENT))
}

#[cfg(test)]
mod tests {
    use super::is_over;

    #[test]
    fn three_percent_are_let_pass() {
        assert!(!is_over(103_000, 100_000));
        assert!(is_over(103_001, 100_000));
    }
}
