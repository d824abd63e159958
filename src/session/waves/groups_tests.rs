//! Groups of hand-made stacks.

use std::collections::HashMap;
use std::hash::RandomState;

use super::{Building, GroupBy, Grouping, MAX_STACK_BYTES};
use crate::session::stack::{Stack, StackEnd, StackFrame};
use crate::session::{Inferred, InferredBy};
use crate::units::{Pc, WaveId};

/// A kernel and a function that it calls; the caller's inferences.
fn stack(pc: u64, inferred: Inferred) -> Stack {
    let frame = |level: usize, function: &str, pc: u64, inferred| StackFrame {
        level,
        of_wave: Some(level),
        physical: level,
        inlined: false,
        function: Some(function.to_owned()),
        symbol: None,
        mangled: None,
        file: None,
        line: None,
        column: None,
        offset: None,
        pc: Some(Pc(pc)),
        cfa: None,
        code_object: None,
        problem: None,
        inferred,
        whole: [None, None],
    };
    let frames = vec![frame(0, "inner", pc, Inferred::NONE), frame(1, "kernel", 0x2000, inferred)];
    Stack { wave: WaveId(0), lane: None, frames, end: StackEnd::Outermost }
}

/// The caller of a wave in an epilogue may be inferred, that of another wave in the same function not.
#[test]
fn frames_of_a_group_have_the_inferences_of_all_members() {
    let by_code = Inferred::NONE.with(InferredBy::CallerCode);
    for order in [[Inferred::NONE, by_code], [by_code, Inferred::NONE]] {
        let grouping = Grouping { by: GroupBy::Function, lanes: false };
        let (by_stack, hashes) = (HashMap::new(), [RandomState::new(), RandomState::new()]);
        let mut groups = Building { grouping, by_stack, hashes, groups: Vec::new(), left: MAX_STACK_BYTES };
        for (inferred, pc) in order.into_iter().zip([0x1000, 0x1004]) {
            assert_eq!(groups.of(stack(pc, inferred)), 0, "{order:?}");
        }
        let found = groups.finish().groups;
        let marks: Vec<Inferred> = found[0].stack.frames.iter().map(|frame| frame.inferred).collect();
        assert_eq!(marks, [Inferred::NONE, by_code], "{order:?}");
    }
}
