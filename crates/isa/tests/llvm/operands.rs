//! Operands and implicit registers in the form that operands.py writes.

use amdgpu_isa::{Effects, File, Implicit, Instruction, Operand, Value};

/// Registers by LLVM's names, in their order.
const REGISTERS: [(Implicit, &str); 8] = [
    (Implicit::ASYNC_COUNT, "ASYNCcnt"),
    (Implicit::EXEC, "EXEC"),
    (Implicit::FLAT_SCRATCH, "FLAT_SCR"),
    (Implicit::M0, "M0"),
    (Implicit::MODE, "MODE"),
    (Implicit::SCC, "SCC"),
    (Implicit::TENSOR_COUNT, "TENSORcnt"),
    (Implicit::VCC, "VCC"),
];

/// Each operand, `>` before it where it is written, behind it the operand to which it is tied; then implicit registers.
pub(crate) fn shape(instruction: &Instruction) -> String {
    // LLVM has other opcodes for image instructions with fewer addresses.
    let is_absent = |operand: &Operand| {
        operand.value == Value::None
            && operand.role.name().strip_prefix("vaddr").is_some_and(|place| place > "0")
    };
    let operands = instruction.operands().filter(|operand| !is_absent(operand)).map(|operand| {
        let value = match operand.value {
            Value::None => "-".to_owned(),
            Value::Immediate(number) | Value::Literal(number) => number.to_string(),
            Value::Register(register) => {
                let file = match register.file {
                    File::Vgpr => "v",
                    File::Agpr => "a",
                    File::Sgpr => "s",
                    File::Ttmp => "ttmp",
                    File::Special => "special",
                    File::VgprLow => "v.l",
                    File::VgprHigh => "v.h",
                };
                format!("{file} {}+{}", register.number, register.dwords)
            }
        };
        let written = if operand.is_written { ">" } else { "" };
        let tied = operand.tied.map_or(String::new(), |to| format!(" tied {to}"));
        format!("{written}{value}{tied}")
    });
    let names = |verb, of: fn(&Effects) -> Implicit| {
        let registers = instruction.effects().map_or(Implicit::default(), |effects| of(&effects));
        let named = REGISTERS.iter().filter(move |(register, _)| registers.contains(*register));
        named.map(move |(_, name)| format!("{verb} {name}"))
    };
    let reads = names("reads", |effects| effects.reads);
    operands.chain(reads).chain(names("writes", |effects| effects.writes)).collect::<Vec<_>>().join(", ")
}
