//! The order of the functions in the Wasm, for gzip.
//!
//! `wasm-bindgen` writes them from the largest to the smallest. Gzip finds what comes again only within 32 KB, so each
//! function here follows those that it has most in common with: the same code is 3 % smaller after gzip. What it does
//! is the same, and so is its size before gzip.

// Indices are of functions that were counted before, and a mistake here stops the build, which is what a build is to do.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::ops::Range;

use anyhow::{Result, anyhow};
use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, FunctionBody, FunctionSectionReader, Operator, Parser, Payload, TypeRef,
};

/// How many instructions in a row make one thing that functions may have in common.
const RUN: usize = 3;
/// How many bytes back a function is compared with what stands there. Half of what gzip sees: within what it sees it
/// finds the near more cheaply.
const WINDOW_BYTES: usize = 16 * 1024;
/// What is found once counts this much, what is more frequent less.
const WEIGHT: u64 = 1000;

/// The same module with its functions in another order.
pub(super) fn order(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut imports = 0;
    let mut functions = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    imports += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => functions.push(Function::read(wasm, &body)?),
            _ => {}
        }
    }
    let order = chain(&functions);
    // The index of each function in the new module, by its old one.
    let mut indices: Vec<u32> = (0..imports).collect();
    indices.resize(indices.len() + functions.len(), 0);
    for (&old, new) in order.iter().zip(imports..) {
        indices[imports as usize + old] = new;
    }
    let mut module = Module::new();
    Ordered { order, indices }
        .parse_core_module(&mut module, Parser::new(0), wasm)
        .map_err(|error| anyhow!("the Wasm cannot be put in order: {error}"))?;
    Ok(module.finish())
}

struct Function {
    bytes: usize,
    /// A number for each run of instructions.
    runs: Vec<u64>,
}

impl Function {
    fn read(wasm: &[u8], body: &FunctionBody<'_>) -> Result<Self> {
        let end = body.range().end;
        let starts: Vec<(Operator<'_>, usize)> = body
            .get_operators_reader()?
            .into_iter_with_offsets()
            .collect::<Result<_, _>>()?;
        let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([end]);
        let instructions: Vec<Range<usize>> = starts
            .iter()
            .zip(ends)
            .map(|((_, start), end)| *start..end)
            .collect();
        let mut runs: Vec<u64> = instructions
            .windows(RUN)
            .map(|run| number(&wasm[run[0].start..run[RUN - 1].end]))
            .collect();
        runs.sort_unstable();
        runs.dedup();
        Ok(Self {
            bytes: body.range().len(),
            runs,
        })
    }
}

/// FNV-1a: the order must be the same with every compiler.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The functions as a chain: next is always the one that has most in common with the last ones, for its length.
fn chain(functions: &[Function]) -> Vec<usize> {
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, function) in functions.iter().enumerate() {
        for run in &function.runs {
            holders.entry(*run).or_default().push(index);
        }
    }
    holders.retain(|_, holders| holders.len() > 1);
    let mut common = Common {
        holders,
        scores: vec![0; functions.len()],
        present: HashMap::new(),
    };
    let mut left: Vec<usize> = (0..functions.len()).collect();
    let mut order = Vec::new();
    let mut window: VecDeque<usize> = VecDeque::new();
    let mut bytes = 0;
    while let Some(at) = (0..left.len()).max_by_key(|at| {
        let function = &functions[left[*at]];
        // A square instead of a root on the other side: all in whole numbers.
        let score = common.scores[left[*at]].pow(2) / (function.runs.len() as u64 + 8);
        // Among equals the first, which is the larger.
        (score, std::cmp::Reverse(*at))
    }) {
        let next = left.remove(at);
        order.push(next);
        window.push_back(next);
        bytes += functions[next].bytes;
        common.enter(&functions[next]);
        while bytes > WINDOW_BYTES && window.len() > 1 {
            let Some(last) = window.pop_front() else {
                break;
            };
            bytes -= functions[last].bytes;
            common.leave(&functions[last]);
        }
    }
    order
}

/// What each function has in common with those in the window.
struct Common {
    /// The functions with a run, where it is not one alone.
    holders: HashMap<u64, Vec<usize>>,
    scores: Vec<u64>,
    /// How often a run stands in the window.
    present: HashMap<u64, usize>,
}

impl Common {
    fn enter(&mut self, function: &Function) {
        for run in &function.runs {
            let Some(holders) = self.holders.get(run) else {
                continue;
            };
            let present = self.present.entry(*run).or_default();
            *present += 1;
            if *present == 1 {
                for holder in holders {
                    self.scores[*holder] += weight(holders);
                }
            }
        }
    }

    fn leave(&mut self, function: &Function) {
        for run in &function.runs {
            let (Some(holders), Some(present)) = (self.holders.get(run), self.present.get_mut(run))
            else {
                continue;
            };
            *present -= 1;
            if *present == 0 {
                for holder in holders {
                    self.scores[*holder] -= weight(holders);
                }
            }
        }
    }
}

fn weight(holders: &[usize]) -> u64 {
    WEIGHT / (holders.len() as u64).isqrt()
}

/// Writes the module again, the functions in `order`.
struct Ordered {
    order: Vec<usize>,
    indices: Vec<u32>,
}

impl Reencode for Ordered {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        Ok(self.indices[function as usize])
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        let types: Vec<u32> = section.into_iter().collect::<Result<_, _>>()?;
        for function in &self.order {
            functions.function(types[*function]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        let bodies: Vec<FunctionBody<'_>> = section.into_iter().collect::<Result<_, _>>()?;
        for function in self.order.clone() {
            utils::parse_function_body(self, code, bodies[function].clone())?;
        }
        Ok(())
    }
}
