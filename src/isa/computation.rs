//! The computations of instructions: operations on integers and masks of lanes, with operands in a fixed order.
//!
//! All analyses take the meaning of arithmetic from here: values, copies, sums, inverses of changes of EXEC, frames.
//! AMD's ISA documents have the operations. Operands with signs, selected parts or other lanes have no computation.

use amdgpu_isa::{File, Implicit, Operand, Role, Value};

use super::registers::{RegisterFile, RegisterRange};
use super::{Instruction, inputs};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The source.
    Move,
    /// The lane of the first source with the number of the second, or the first active one without a second.
    ReadLane,
    /// The first source, in the lane with the number of the second.
    WriteLane,
    /// A dword of each source, by the numbers of the dwords.
    Pack(u8, u8),
    /// The address of the next instruction.
    ProgramCounter,
    /// The sum.
    Add,
    /// The sum with the carry.
    AddCarry,
    /// The first without the second.
    Subtract,
    /// The same without the borrow.
    SubtractBorrow,
    /// The first one shifted by the second.
    ShiftLeft,
    /// Zeros come in.
    ShiftRight,
    /// The sign comes in.
    ShiftRightSigned,
    /// (first << second) + third.
    ShiftAdd,
    /// (first << second) | third.
    ShiftOr,
    /// (first + second) << third.
    AddShift,
    /// The sum of three.
    Add3,
    /// (first & second) | third.
    AndOr,
    /// The disjunction of three.
    Or3,
    /// Bitwise.
    And,
    /// Bitwise.
    Or,
    /// Bitwise.
    Xor,
    /// Bitwise.
    Not,
    /// The first without the bits of the second.
    AndNot,
    /// The first, or the bits that the second has not.
    OrNot,
    /// The smaller one.
    Min(Number),
    /// The larger one.
    Max(Number),
    /// The low half of the product.
    Multiply,
    /// The high half of the product of 32 bits each.
    MultiplyHigh(Number),
    /// The product of 24 bits each.
    Multiply24(Number),
    /// That plus the third.
    MultiplyAdd24(Number),
    /// The product of 64 bits of two numbers of 32 bits, plus the third.
    MultiplyAddWide(Number),
    /// The first if the condition holds, else the second.
    Select,
    /// The sign of that many bits, extended.
    Extend(u32),
    /// Bits of the first from the second on, as many as the third says.
    Field(Number),
    /// Whether the first is in that relation to the second.
    Compare(Relation, Number),
}

/// The type of an operation's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Without a sign.
    U32,
    /// With a sign.
    I32,
    /// Without a sign.
    U64,
    /// With a sign.
    I64,
    /// Floating-point numbers, and other formats.
    Other,
}

/// A relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "names of relations")]
pub enum Relation {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// Another one.
    Other,
}

impl Relation {
    /// The sign of the relation; `is_swapped`: of the second number to the first. `None`: it has none.
    #[must_use]
    pub fn sign(self, is_swapped: bool) -> Option<&'static str> {
        let (sign, swapped) = match self {
            Self::Equal => ("==", "=="),
            Self::NotEqual => ("!=", "!="),
            Self::Greater => (">", "<"),
            Self::GreaterOrEqual => (">=", "<="),
            Self::Less => ("<", ">"),
            Self::LessOrEqual => ("<=", ">="),
            Self::Other => return None,
        };
        Some(if is_swapped { swapped } else { sign })
    }
}

/// A source of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Registers.
    Register(RegisterRange),
    /// The low or the high half of a register.
    Half(RegisterRange, bool),
    /// A number: its sign is extended to 64 bits.
    Constant(i64),
    /// The base or limit of an aperture, by its name: `src_shared_base`.
    Aperture(&'static str),
    /// Anything else.
    Other,
}

impl Source {
    /// The registers.
    #[must_use]
    pub fn register(self) -> Option<RegisterRange> {
        match self {
            Self::Register(range) => Some(range),
            _ => None,
        }
    }

    /// The registers, of which a half may be meant.
    #[must_use]
    pub fn named(self) -> Option<RegisterRange> {
        match self {
            Self::Register(range) | Self::Half(range, _) => Some(range),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub fn constant(self) -> Option<i64> {
        match self {
            Self::Constant(number) => Some(number),
            _ => None,
        }
    }
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computation {
    /// The operation.
    pub operation: Operation,
    /// The registers of the result, of a comparison EXEC if it narrows it; `None`: none, or those of no capture.
    pub to: Option<RegisterRange>,
    /// The sources, reversed ones in the order of the operation.
    pub sources: [Source; 3],
    /// The mask of lanes with the carry or the selection; SCC of scalar instructions.
    pub condition: Option<RegisterRange>,
    /// The mask of lanes that receives the carry or the comparison; SCC of scalar instructions.
    pub flag: Option<RegisterRange>,
    /// EXEC is copied there first; the result goes to EXEC.
    pub saved: Option<RegisterRange>,
    /// Whether lanes are computed.
    pub is_vector: bool,
    /// Whether a sum or difference has a carry of 32 bits.
    pub has_carry: bool,
}

pub(super) const EXEC: RegisterRange = RegisterRange::new(RegisterFile::Exec, 0, 2);
const SCC: RegisterRange = RegisterRange::new(RegisterFile::Scc, 0, 1);
const SDST: Role = Role::named("sdst");
const SIMM16: Role = Role::named("simm16");
const VDST: Role = Role::named("vdst");
/// Destinations of the halves of a pair (VOPD).
const PAIRED: [Role; 2] = [Role::named("vdstX"), Role::named("vdstY")];

impl Computation {
    fn new(operation: Operation, to: Option<RegisterRange>, sources: [Source; 3]) -> Self {
        let (condition, flag, saved) = (None, None, None);
        Self { operation, to, sources, condition, flag, saved, is_vector: true, has_carry: false }
    }
}

impl Instruction {
    /// The computations of the instruction that are known: at most one, and two of a pair (VOPD).
    pub fn computations(&self) -> impl Iterator<Item = Computation> + '_ {
        self.known.computations.get_or_init(|| self.compute()).iter().copied()
    }

    fn compute(&self) -> Vec<Computation> {
        let code = self.code().filter(|_| !self.has_unknown_vectors()).map(|(code, _)| code);
        let both = code.map(|code| match code.second_op() {
            None => [of(code), None],
            Some(second) => {
                let first = code.op().map(amdgpu_isa::Op::mnemonic);
                let half = |name: Option<&str>, place: usize| half(code, name?, place);
                [half(first, 0), half(Some(second.mnemonic()), 1)]
            }
        });
        both.into_iter().flatten().flatten().collect()
    }
}

pub(super) fn source(operand: Option<Operand>) -> Source {
    match operand.map(|of| of.value) {
        Some(Value::Register(register)) => match (RegisterRange::of(register), register.name()) {
            (Some(range), _) => match register.file {
                File::VgprLow => Source::Half(range, false),
                File::VgprHigh => Source::Half(range, true),
                _ => Source::Register(range),
            },
            (None, Some(name)) if name.starts_with("src_") && name != "src_scc" => Source::Aperture(name),
            _ => Source::Other,
        },
        Some(Value::Immediate(number) | Value::Literal(number)) => Source::Constant(number),
        Some(Value::None) | None => Source::Other,
    }
}

/// The half of a pair.
fn half(code: &amdgpu_isa::Instruction, name: &str, place: usize) -> Option<Computation> {
    let (operation, is_reversed) = operation(name.strip_prefix("v_dual_")?)?;
    if is_changed(code) {
        return None;
    }
    let sources = inputs::operands(code, place).map(source);
    let to = code.operand_of(*PAIRED.get(place)?).and_then(|of| RegisterRange::of(of.register()?));
    let [.., mask] = sources;
    let condition = (operation == Operation::Select).then(|| mask.register().unwrap_or_else(|| vcc(code)));
    Some(Computation { condition, ..Computation::new(operation, to, ordered(sources, is_reversed)) })
}

fn ordered([a, b, c]: [Source; 3], is_reversed: bool) -> [Source; 3] {
    if is_reversed { [b, a, c] } else { [a, b, c] }
}

fn vcc(code: &amdgpu_isa::Instruction) -> RegisterRange {
    RegisterRange::new(RegisterFile::Vcc, 0, if code.is_wave64() { 2 } else { 1 })
}

/// Whether operands or the result are changed on their way, or come from other lanes.
fn is_changed(code: &amdgpu_isa::Instruction) -> bool {
    const RESULT: [&str; 2] = ["clamp", "omod"];
    let is_shuffled = code.effects().is_none_or(|effects| effects.is_dpp() || effects.is_sdwa());
    is_shuffled
        || code.operand_infos().any(|of| {
            let name = of.role.name();
            let number = || code.operand(of.number).and_then(|of| of.number()).unwrap_or(0);
            match name.ends_with("_modifiers") {
                true => !is_usual(code, number()),
                false => RESULT.contains(&name) && number() != 0,
            }
        })
}

/// Whether the modifiers of a source leave it as it is.
fn is_usual(code: &amdgpu_isa::Instruction, bits: i64) -> bool {
    // Bits of signs; the others select dwords of `v_pk_mov_b32`.
    bits == 0 || bits & 0b1_0011 == 0 && code.mnemonic() == Some("v_pk_mov_b32")
}

fn of(code: &amdgpu_isa::Instruction) -> Option<Computation> {
    let name = code.mnemonic()?;
    let (stem, is_vector) = match name.strip_prefix("s_") {
        Some(stem) => (stem, false),
        None => (name.strip_prefix("v_")?, true),
    };
    let register = |role: Role| RegisterRange::of(code.operand_of(role)?.register()?);
    let sources = || inputs::operands(code, 0).map(source);
    if let Some((operation, is_reversed, dwords, is_saving)) = saving(stem).filter(|_| !is_vector) {
        let exec = RegisterRange { count: dwords, ..EXEC };
        let [source, ..] = sources();
        let sources = ordered([source, Source::Register(exec), Source::Other], is_reversed);
        let saved = register(SDST).filter(|_| is_saving);
        return Some(Computation {
            flag: Some(SCC),
            saved,
            is_vector,
            ..Computation::new(operation, Some(exec), sources)
        });
    }
    let (operation, is_reversed) = operation(stem)?;
    if is_changed(code) {
        return None;
    }
    let effects = code.effects()?;
    let constant = || code.operand_of(SIMM16).and_then(|of| of.number()).map(|number| number as u16);
    let [a, b, c] = match constant().filter(|_| effects.encoding == amdgpu_isa::Encoding::Sopk) {
        // The constant is the last source: extended by its sign, but of comparisons without one.
        Some(number) => {
            let number = match operation {
                Operation::Compare(_, Number::U32) => Source::Constant(number.into()),
                _ => Source::Constant(number.cast_signed().into()),
            };
            let first = register(SDST).map_or(Source::Other, Source::Register);
            if operation == Operation::Move {
                [number, Source::Other, Source::Other]
            } else {
                [first, number, Source::Other]
            }
        }
        None => sources(),
    };
    let sources = match stem.strip_prefix("lshl").and_then(|rest| rest.strip_suffix("_add_u32")) {
        Some(bits @ ("1" | "2" | "3" | "4")) => [a, Source::Constant(bits.parse().ok()?), b],
        _ => ordered([a, b, c], is_reversed),
    };
    let has_condition =
        matches!(operation, Operation::AddCarry | Operation::SubtractBorrow | Operation::Select);
    let mask = || c.register().unwrap_or_else(|| vcc(code));
    let condition = has_condition.then(|| if is_vector { mask() } else { SCC });
    let has = |of: Implicit| effects.writes.contains(of);
    let flag = match is_vector {
        true => register(SDST).or_else(|| has(Implicit::VCC).then(|| vcc(code))),
        false => has(Implicit::SCC).then_some(SCC),
    };
    let to = match operation {
        Operation::Compare(..) => has(Implicit::EXEC).then_some(EXEC),
        _ => register(VDST).or_else(|| register(SDST).filter(|_| !is_vector)),
    };
    // SCC of sums with signs is their overflow.
    let has_carry = flag.is_some() && stem.ends_with("_u32");
    let operation = packed(code, operation)?;
    Some(Computation { condition, flag, is_vector, has_carry, ..Computation::new(operation, to, sources) })
}

/// The dwords that `v_pk_mov_b32` selects.
fn packed(code: &amdgpu_isa::Instruction, operation: Operation) -> Option<Operation> {
    const MODIFIERS: [Role; 2] = [Role::named("src0_modifiers"), Role::named("src1_modifiers")];
    let Operation::Pack(..) = operation else { return Some(operation) };
    let [low, high] = MODIFIERS.map(|role| code.operand_of(role)?.number());
    Some(Operation::Pack(u8::from(low? & 4 != 0), u8::from(high? & 4 != 0)))
}

/// The operation of an instruction that changes EXEC, whether its sources are reversed, its dwords, and whether it saves
/// EXEC.
fn saving(stem: &str) -> Option<(Operation, bool, u16, bool)> {
    let (name, dwords) = match stem.rsplit_once('_')? {
        (name, "b32") => (name, 1),
        (name, "b64") => (name, 2),
        _ => return None,
    };
    let (name, is_saving) = match name.strip_suffix("_saveexec") {
        Some(name) => (name, true),
        None => (name.strip_suffix("_wrexec")?, false),
    };
    let (operation, is_reversed) = match name {
        "and" => (Operation::And, false),
        "or" => (Operation::Or, false),
        "xor" => (Operation::Xor, false),
        "andn1" | "and_not0" => (Operation::AndNot, true),
        "andn2" | "and_not1" => (Operation::AndNot, false),
        "orn1" | "or_not0" => (Operation::OrNot, true),
        "orn2" | "or_not1" => (Operation::OrNot, false),
        _ => return None,
    };
    Some((operation, is_reversed, dwords, is_saving))
}

/// The operation of a mnemonic without its prefix, and whether its sources are reversed.
fn operation(stem: &str) -> Option<(Operation, bool)> {
    use Number::{I32, U32};
    use Operation as O;
    let compared = stem
        .strip_prefix("cmpx_")
        .or_else(|| stem.strip_prefix("cmpk_"))
        .or_else(|| stem.strip_prefix("cmp_"));
    if let Some((relation, number)) = compared.and_then(|rest| rest.split_once('_')) {
        return Some((O::Compare(relation_of(relation), number_of(number)), false));
    }
    let is_reversed = stem.contains("rev_");
    let operation = match stem {
        "mov_b32" | "mov_b64" | "movk_i32" | "accvgpr_read_b32" | "accvgpr_write_b32" | "accvgpr_mov_b32" => {
            O::Move
        }
        "readlane_b32" | "readfirstlane_b32" => O::ReadLane,
        "writelane_b32" => O::WriteLane,
        "pk_mov_b32" => O::Pack(0, 0),
        "getpc_b64" | "get_pc_i64" => O::ProgramCounter,
        "add_u32" | "add_i32" | "add_nc_u32" | "add_nc_i32" | "add_co_u32" | "add_co_i32" | "add_nc_u64"
        | "add_u64" | "addk_i32" | "addk_co_i32" => O::Add,
        "sub_u32" | "sub_i32" | "sub_nc_u32" | "sub_nc_i32" | "sub_co_u32" | "sub_co_i32" | "sub_nc_u64"
        | "sub_u64" | "subrev_u32" | "subrev_nc_u32" | "subrev_co_u32" => O::Subtract,
        "addc_u32" | "addc_co_u32" | "add_co_ci_u32" => O::AddCarry,
        "subb_u32" | "subb_co_u32" | "sub_co_ci_u32" | "subbrev_co_u32" | "subrev_co_ci_u32" => {
            O::SubtractBorrow
        }
        "lshlrev_b32" | "lshlrev_b64" | "lshl_b32" | "lshl_b64" => O::ShiftLeft,
        "lshrrev_b32" | "lshrrev_b64" | "lshr_b32" | "lshr_b64" => O::ShiftRight,
        "ashrrev_i32" | "ashrrev_i64" | "ashr_i32" | "ashr_i64" => O::ShiftRightSigned,
        "lshl_add_u32" | "lshl_add_u64" | "lshl1_add_u32" | "lshl2_add_u32" | "lshl3_add_u32"
        | "lshl4_add_u32" => O::ShiftAdd,
        "add_lshl_u32" => O::AddShift,
        "add3_u32" => O::Add3,
        "lshl_or_b32" => O::ShiftOr,
        "and_or_b32" => O::AndOr,
        "or3_b32" => O::Or3,
        "and_b32" | "and_b64" => O::And,
        "or_b32" | "or_b64" => O::Or,
        "xor_b32" | "xor_b64" => O::Xor,
        "not_b32" | "not_b64" => O::Not,
        "andn2_b32" | "and_not1_b32" | "andn2_b64" | "and_not1_b64" => O::AndNot,
        "orn2_b32" | "or_not1_b32" | "orn2_b64" | "or_not1_b64" => O::OrNot,
        "min_u32" => O::Min(U32),
        "max_u32" => O::Max(U32),
        "min_i32" => O::Min(I32),
        "max_i32" => O::Max(I32),
        "mul_lo_u32" | "mul_i32" | "mul_u64" | "mulk_i32" => O::Multiply,
        "mul_hi_u32" => O::MultiplyHigh(U32),
        "mul_hi_i32" => O::MultiplyHigh(I32),
        "mul_u32_u24" => O::Multiply24(U32),
        "mul_i32_i24" => O::Multiply24(I32),
        "mad_u32_u24" => O::MultiplyAdd24(U32),
        "mad_i32_i24" => O::MultiplyAdd24(I32),
        "mad_u64_u32" | "mad_co_u64_u32" | "mad_nc_u64_u32" => O::MultiplyAddWide(U32),
        "mad_i64_i32" | "mad_co_i64_i32" | "mad_nc_i64_i32" => O::MultiplyAddWide(I32),
        "cselect_b32" | "cselect_b64" => O::Select,
        "cndmask_b32" => return Some((O::Select, true)),
        "sext_i32_i8" => O::Extend(8),
        "sext_i32_i16" => O::Extend(16),
        "bfe_u32" => O::Field(U32),
        "bfe_i32" => O::Field(I32),
        _ => return None,
    };
    Some((operation, is_reversed))
}

fn relation_of(name: &str) -> Relation {
    match name {
        "eq" => Relation::Equal,
        "lg" | "ne" | "neq" => Relation::NotEqual,
        "gt" => Relation::Greater,
        "ge" => Relation::GreaterOrEqual,
        "lt" => Relation::Less,
        "le" => Relation::LessOrEqual,
        _ => Relation::Other,
    }
}

fn number_of(name: &str) -> Number {
    match name {
        "u32" => Number::U32,
        "i32" => Number::I32,
        "u64" => Number::U64,
        "i64" => Number::I64,
        _ => Number::Other,
    }
}
