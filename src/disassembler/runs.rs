//! Results of runs of a tool, for the captures of one program: a tool takes 30 ms of processor time to start.
//!
//! A result is that of the same bytes at the same address for the same processor.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::batch::Batch;
use super::{Instruction, Machine};

/// Maximum bytes of code of all results; their texts take about twenty times that.
const MAX_CODE: usize = 512 << 10;

/// Results, the most recently used first.
#[derive(Debug, Default)]
pub(super) struct Runs(Mutex<VecDeque<Run>>);

#[derive(Debug)]
struct Run {
    machine: Machine,
    address: u64,
    code: Vec<u8>,
    result: (String, Vec<Instruction>),
}

impl Runs {
    /// The tool's name and the instructions of a batch.
    pub(super) fn find(&self, machine: &Machine, batch: &Batch) -> Option<(String, Vec<Instruction>)> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |run: &Run| run.address == batch.address() && run.machine == *machine && run.code == batch.code();
        let index = runs.iter().position(is_it)?;
        let run = runs.remove(index)?;
        let result = run.result.clone();
        runs.push_front(run);
        Some(result)
    }

    /// Keeps a result, and drops the oldest ones beyond the bound.
    pub(super) fn keep(&self, machine: &Machine, batch: &Batch, result: &(String, Vec<Instruction>)) {
        let run = Run {
            machine: machine.clone(),
            address: batch.address(),
            code: batch.code().to_vec(),
            result: result.clone(),
        };
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push_front(run);
        let mut left = MAX_CODE;
        runs.retain(|run| {
            let rest = left.checked_sub(run.code.len());
            left = rest.unwrap_or(0);
            rest.is_some()
        });
    }
}
