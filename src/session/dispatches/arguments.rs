//! The kernel arguments of a dispatch, by name and type.
//!
//! The code object's metadata has each argument's offset in the kernarg segment (AMDGPUUsage, "Code Object
//! Metadata"). Names and types come from the source if DWARF has them: the metadata of a HIP kernel has names that
//! the compiler made up. The two lists are joined by order, and only if they agree in number and sizes.

use std::sync::Arc;

use crate::arch::Target;
use crate::capture::Dispatch;
use crate::codeobject::{Argument, CodeObject, ElfAddress};
use crate::debuginfo::format::{Contents, Options};
use crate::debuginfo::{DebugInfo, TypeId, UnitFacts, VariableKind};
use crate::session::dispatches::kernels::{self, KernelError};
use crate::session::dispatches::mangled;
use crate::session::reading::address::GLOBAL;
use crate::session::{Byte, MemoryAddress, Reader};
use crate::units::Address;

/// Maximum number of bytes read of one argument; compilers accept kernarg segments of at most 4 KiB.
pub const MAX_ARGUMENT: u64 = 64 * 1024;

/// The arguments of one dispatch.
#[derive(Clone, Debug)]
pub struct DispatchArguments {
    /// The dump's id.
    pub dispatch: u32,
    /// The kernel: by the dump's name, else by its descriptor.
    pub kernel: Option<String>,
    /// Address of the kernarg segment in global memory.
    pub kernarg: Option<Address>,
    /// Its size in bytes, by the metadata.
    pub size: Option<u64>,
    /// The arguments in order, hidden ones after those of the source.
    pub arguments: Vec<KernelArgument>,
    /// The reason for missing arguments or missing bytes.
    pub problem: Option<KernelError>,
}

/// One argument of a kernel.
#[derive(Clone, Debug)]
pub struct KernelArgument {
    /// Its name in the source; hidden ones have none.
    pub name: Option<String>,
    /// Its type as the source spells it.
    pub type_name: Option<String>,
    /// Its offset in the kernarg segment, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The way of passing: `by_value`, `global_buffer`, `hidden_block_count_x` ...
    pub kind: String,
    /// The address space of the pointee: `global`, `local`.
    pub address_space: Option<String>,
    /// Whether the runtime adds it.
    pub hidden: bool,
    /// Its bytes, lowest address first; only captured ones are known.
    pub bytes: Vec<Byte>,
    /// The value: in C++ notation if the type is known, else a number; `None`: not captured.
    pub value: Option<String>,
}

/// A parameter of the kernel's function by DWARF.
struct Parameter {
    name: Option<String>,
    type_id: TypeId,
    size: Option<u64>,
}

/// The arguments of every dispatch, in the dump's order.
pub(in crate::session) fn all(reader: &Reader) -> Vec<DispatchArguments> {
    reader.dump().capture().dispatches.iter().map(|dispatch| of(reader, dispatch, &mut |_| ())).collect()
}

/// An argument in memory, with its source type if known.
pub(in crate::session) struct Raw<'a> {
    pub(in crate::session) argument: &'a KernelArgument,
    pub(in crate::session) typed: Option<(&'a Arc<DebugInfo>, TypeId)>,
}

/// The arguments of one dispatch; `each` gets every one of them.
pub(in crate::session) fn of(
    reader: &Reader,
    dispatch: &Dispatch,
    each: &mut dyn FnMut(&Raw<'_>),
) -> DispatchArguments {
    let mut answer = DispatchArguments {
        dispatch: dispatch.id,
        kernel: reader.dump().kernel_name(dispatch),
        kernarg: dispatch.kernarg,
        size: None,
        arguments: Vec::new(),
        problem: None,
    };
    match read(reader, dispatch, &mut answer, each) {
        Ok(()) if dispatch.kernarg.is_none() => {
            answer.problem = Some(KernelError::NoArguments);
        }
        Ok(()) => {}
        Err(why) => answer.problem = Some(why),
    }
    answer
}

fn read(
    reader: &Reader,
    dispatch: &Dispatch,
    answer: &mut DispatchArguments,
    each: &mut dyn FnMut(&Raw<'_>),
) -> Result<(), KernelError> {
    let capture = reader.dump().capture();
    let (loaded, object, name) = kernels::of(reader.dump(), dispatch)?;
    answer.kernel.get_or_insert_with(|| name.clone());
    let metadata = object.metadata()?.ok_or(KernelError::NoMetadata)?;
    let kernel = metadata.kernels.iter().find(|kernel| kernel.is_named(&name));
    let kernel = kernel.ok_or_else(|| KernelError::NotInMetadata(name.clone()))?;
    answer.size = kernel.kernarg_segment_size;
    let debug = loaded.debug(capture).ok();
    let visible = || kernel.arguments.iter().filter(|argument| !argument.is_hidden());
    let parameters = debug.as_ref().and_then(|debug| parameters(debug, &object, &name));
    // A compiler may pass a parameter in another form than the source's; then the metadata's description stays.
    let added = debug.as_ref().map_or(0, |debug| added_by_launcher(debug, &object, &name));
    let count = visible().count();
    let parameters = parameters.filter(|parameters| {
        [count, count.saturating_sub(added)].contains(&parameters.len())
            && parameters
                .iter()
                .zip(visible())
                .all(|(parameter, argument)| parameter.size.is_none_or(|size| size == argument.size))
    });
    let types = || mangled::argument_types(&name, &kernel.arguments);
    let mut mangled = if parameters.is_none() { types().map(Vec::into_iter) } else { None };
    let missing = parameters.as_ref().map_or(0, |parameters| count - parameters.len());
    let mut parameters = parameters.unwrap_or_default().into_iter();
    let mut visible_left = count;
    let typed = debug.as_deref();
    let agent = capture.queues.get(dispatch.queue).and_then(|queue| capture.agents.get(queue.agent));
    let target = agent.map(|agent| &*agent.target);
    for argument in &kernel.arguments {
        let parameter = if argument.is_hidden() { None } else { parameters.next() };
        visible_left -= usize::from(!argument.is_hidden());
        let type_id = parameter.as_ref().map(|parameter| parameter.type_id);
        let mut found = value(reader, dispatch.kernarg, target, argument, typed, parameter);
        found.hidden |= visible_left < missing;
        if let Some(types) = mangled.as_mut().filter(|_| !found.hidden) {
            by_type(&mut found, types.next());
        }
        each(&Raw { argument: &found, typed: debug.as_ref().zip(type_id) });
        answer.arguments.push(found);
    }
    Ok(())
}

/// Gives an argument a type, and its value in the notation of the type.
fn by_type(argument: &mut KernelArgument, type_name: Option<String>) {
    let known = argument.bytes.iter().map(|byte| match byte {
        Byte::Known(byte) => Some(*byte),
        _ => None,
    });
    let bytes: Option<Vec<u8>> = known.collect();
    if let Some((name, bytes)) = type_name.as_deref().zip(bytes) {
        // The number of a structure's bytes is no value.
        let plain = argument.value.take().filter(|_| mangled::is_number(name));
        argument.value = mangled::value(name, &bytes).or(plain);
    }
    argument.type_name = type_name;
}

/// Number of arguments at the end that are not the source's: Triton's launcher passes its two scratch buffers like
/// arguments of the kernel.
fn added_by_launcher(debug: &DebugInfo, object: &CodeObject, kernel: &str) -> usize {
    let entry = object.kernels().find(|found| found.name == kernel).and_then(|found| found.entry);
    let unit = entry.and_then(|entry| debug.unit_at(ElfAddress(entry.0)).ok().flatten());
    let facts = unit.and_then(|unit| debug.unit(unit).ok());
    if facts.is_some_and(UnitFacts::producer_is_triton) { 2 } else { 0 }
}

/// The parameters of a kernel's function if all have types; else `None`.
fn parameters(debug: &DebugInfo, object: &CodeObject, kernel: &str) -> Option<Vec<Parameter>> {
    let entry = object.kernels().find(|found| found.name == kernel)?.entry?;
    let at = debug.function_at(ElfAddress(entry.0)).ok()??;
    let scope = at.function.scopes.first()?;
    let arguments = scope.variables.iter().filter(|variable| variable.kind == VariableKind::Argument);
    let each = arguments.map(|variable| {
        let type_id = variable.type_id?;
        // `std::nullptr_t` has no size in DWARF.
        let size = debug.byte_size(type_id).ok()?;
        Some(Parameter { name: variable.name.as_deref().map(str::to_owned), type_id, size })
    });
    each.collect()
}

fn value(
    reader: &Reader,
    kernarg: Option<Address>,
    target: Option<&Target>,
    argument: &Argument,
    debug: Option<&DebugInfo>,
    parameter: Option<Parameter>,
) -> KernelArgument {
    let size = argument.size.min(MAX_ARGUMENT) as usize;
    let mut bytes = vec![0; size];
    let address = kernarg.and_then(|base| base.0.checked_add(argument.offset));
    let count = address.map_or(0, |address| {
        let place = MemoryAddress { space: GLOBAL, address: Address(address), wave: None, lane: None };
        reader.read_if_captured(place, &mut bytes)
    });
    let state = |index: usize, byte: &u8| if index < count { Byte::Known(*byte) } else { Byte::NotCaptured };
    let known: Vec<Byte> = bytes.iter().enumerate().map(|(index, byte)| state(index, byte)).collect();
    let bytes = bytes.get(..count).unwrap_or_default();
    let typed = debug.zip(parameter.as_ref()).and_then(|(debug, parameter)| {
        let space_name = |space| target?.segment(space);
        let options = Options { space_name: &space_name, ..Options::machine() };
        let value = debug.value(parameter.type_id, Contents::known(bytes), &options).ok()?;
        Some(value.to_string())
    });
    let plain = || (count == size).then(|| number(bytes, argument, target)).flatten();
    let value = if count == 0 { None } else { typed.or_else(plain) };
    let type_name = debug.zip(parameter.as_ref());
    let type_name = type_name.and_then(|(debug, parameter)| debug.type_name(Some(parameter.type_id)).ok());
    KernelArgument {
        name: parameter.and_then(|parameter| parameter.name).or_else(|| argument.name.clone()),
        type_name: type_name.or_else(|| argument.type_name.clone()),
        offset: argument.offset,
        size: argument.size,
        kind: argument.value_kind.clone(),
        address_space: argument.address_space.clone(),
        hidden: argument.is_hidden(),
        bytes: known,
        value,
    }
}

/// A pointer in hex, another number in decimal; `None` for more than 8 bytes.
fn number(bytes: &[u8], argument: &Argument, target: Option<&Target>) -> Option<String> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let number = u64::from_le_bytes(wide);
    let is_number = argument.size < 8 || argument.value_kind.starts_with("hidden_global_offset");
    let is_pointer = argument.address_space.is_some() || !is_number;
    let segment = argument.address_space.as_ref().and_then(|name| target?.space_named(name));
    Some(match segment.and_then(|space| target?.segment(space.id)) {
        Some(space) => format!("{space}#{number:#x}"),
        None if is_pointer => format!("{number:#x}"),
        None => number.to_string(),
    })
}
