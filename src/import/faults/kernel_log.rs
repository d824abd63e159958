//! The grammar of amdgpu's rows in the kernel log, on Linux and FreeBSD, and in RADV's files: page faults (`gmc_v9_0.c` to
//! `gmc_v12_0.c`) and hangs (`amdgpu_job.c`, `kfd_device_queue_manager.c`, `mes_v11_0.c`).

use super::lead::is_of_driver;
use super::line::{self, after, from, name, pointer};
use super::runtime::Wrapped;
use crate::arch::FaultStatus;
use crate::capture::{FaultAddress, FaultKind, PAGE};
use crate::import::text::{Cursor, find};

/// A line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// `[gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32769, for process app pid 12 thread app pid 12)`
    Header {
        /// Whether it is the memory hub of media and copies.
        is_mmhub: bool,
        /// Whether it is the driver's own address space. `None`: the row was cut.
        is_driver: Option<bool>,
        process: Option<u32>,
    },
    /// ` Process app pid 12 thread app pid 12`, on a line of its own since Linux 6.9, and of a hang
    Process(u32),
    /// `in page starting at address 0x00007f0000201000 from IH client 0x1b (UTCL2)`
    Page {
        address: FaultAddress,
        /// Whether the interrupt's client is the memory hub of media and copies.
        is_mmhub: bool,
    },
    /// `GCVM_L2_PROTECTION_FAULT_STATUS:0x00301031`, `..._STATUS_LO32:0x00C04061`
    Status {
        status: FaultStatus,
        /// Whether the register is one of that hub.
        is_mmhub: bool,
    },
    /// `Faulty UTCL2 client ID: TCP (0x8)`
    Client {
        name: String,
        /// Whether its number is 0: that of a status that was not read, too.
        is_zero: bool,
    },
    /// A sign of a hang or of a reset.
    Hang {
        /// The ring, if the row names it.
        ring: Option<String>,
        /// Whether it is the reset behind another row.
        is_reset: bool,
    },
    /// Errors of memory.
    Ecc,
    /// An error of a wave.
    Wave(FaultKind),
}

fn row(row: Row) -> line::Row {
    line::Row::Kernel(row)
}

pub(super) fn header(text: &[u8], at: usize) -> Option<line::Row> {
    let before = text.get(..at)?;
    let is_mmhub = find(before, "[mmhub").is_some();
    if !is_mmhub && find(before, "[gfxhub").is_none() || !from(text, at).starts_with(b" (") {
        return None;
    }
    // `vm_id:` before Linux 4.19.
    let vmid = after(text, "vmid:").or_else(|| after(text, "vm_id:"));
    let vmid = vmid.map(Cursor::new).and_then(|mut cursor| {
        let vmid = cursor.decimal()?;
        (!cursor.rest.is_empty()).then_some(vmid)
    });
    Some(row(Row::Header { is_mmhub, is_driver: vmid.map(|vmid| vmid == 0), process: process_id(text) }))
}

/// Digits of an address and of a register, which the driver pads with zeros: fewer are the beginning of a line that was
/// cut.
const ADDRESS_DIGITS: usize = 16;
const REGISTER_DIGITS: usize = 8;

pub(super) fn page(text: &[u8], at: usize) -> Option<line::Row> {
    // The client 18 of interrupts, by number or name (`soc15_ih_clientid.h`): VMC, VMC1.
    const VMC: [&str; 4] = ["(VMC", " client 18\n", " client 0x12", " from 18\n"];
    let text = from(text, at);
    let is_mmhub = VMC.iter().any(|client| find(text, client).is_some());
    padded_page(text).map(|address| row(Row::Page { address, is_mmhub }))
}

/// The page at a pointer that is known whole.
pub(super) fn padded_page(text: &[u8]) -> Option<FaultAddress> {
    let (address, rest) = pointer(text)?;
    let digits = text.strip_suffix(rest)?.trim_ascii_start().strip_prefix(b"0x")?;
    (digits.len() >= ADDRESS_DIGITS).then_some(FaultAddress { bytes: PAGE, ..address })
}

/// `Failing VM page: 0x7f0000201000` of RADV, which pads nothing.
pub(super) fn failing_page(text: &[u8], at: usize) -> Option<line::Row> {
    let (address, _) = pointer(from(text, at))?;
    Some(row(Row::Page { address: FaultAddress { bytes: PAGE, ..address }, is_mmhub: false }))
}

/// `at page 0x0000000100801000 from 27` before Linux 5.1, `at address 0x00007f0000201000 from 27` in some of them.
pub(super) fn old_page(text: &[u8], at: usize) -> Option<line::Row> {
    let start = at.checked_sub("0x".len())?;
    let is_page = is_of_driver(text.get(..start)?) && find(from(text, at), " from ").is_some();
    is_page.then(|| page(text, start))?
}

/// The driver pads the register behind the colon; RADV has a blank there, and pads nothing.
pub(super) fn status(text: &[u8], at: usize) -> Option<line::Row> {
    let value = from(text, at);
    let digits =
        value.strip_prefix(b"0x").map(|value| value.iter().take_while(|byte| byte.is_ascii_hexdigit()));
    if digits.is_some_and(|digits| digits.count() < REGISTER_DIGITS) {
        return None;
    }
    let before = text.get(..at)?;
    let is_mmhub = find(before, "MMVM_").is_some();
    let value = register(value)?;
    let status = match before.ends_with(b"_LO32:") {
        true => FaultStatus::lower_half(value, is_mmhub),
        false => FaultStatus::new(value),
    };
    Some(row(Row::Status { status, is_mmhub }))
}

/// The value of a register, which a byte follows.
pub(super) fn register(text: &[u8]) -> Option<u32> {
    let mut cursor = Cursor::new(text);
    cursor.spaces();
    let value = u32::try_from(cursor.address()?).ok()?;
    (!cursor.rest.is_empty()).then_some(value)
}

/// The client by name, which may have parentheses of its own: `SQC (inst) (0x9)`. The kernel prints `unknown` for one
/// without a name. RADV: `CLIENT_ID: (TCP) 0x8`.
pub(super) fn client(text: &[u8], at: usize) -> Option<line::Row> {
    let text = text.get(at..)?;
    let (client, number) = match text.strip_prefix(b"(") {
        Some(inner) => inner.split_at_checked(find(inner, ") 0x")?)?,
        None => text.split_at_checked(find(text, " (0x")?)?,
    };
    let is_zero = after(number, "0x")?.starts_with(b"0");
    let name = name(client).filter(|name| name != "unknown")?;
    Some(row(Row::Client { name, is_zero }))
}

pub(super) fn process(text: &[u8], _: usize) -> Option<line::Row> {
    process_id(text).map(|process| row(Row::Process(process)))
}

fn process_id(text: &[u8]) -> Option<u32> {
    let text = after(text, "rocess ").or_else(|| after(text, "rocess: "))?;
    let text = after(text, " pid ")?;
    // The thread is behind it: a number at the end of a line may lack digits.
    let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
    from(text, end).starts_with(b" thread ").then(|| line::process(text))?
}

fn hang_of(ring: Option<String>) -> line::Row {
    row(Row::Hang { ring, is_reset: false })
}

/// `amdgpu 0000:08:00.0: amdgpu: GPU reset begin!. Source:  3`
pub(super) fn hang(text: &[u8], at: usize) -> Option<line::Row> {
    let before = text.get(..at)?.strip_suffix(b"GPU reset begin!")?;
    // `GPU reset begin!. Source: 3`, also as a value in quotation marks.
    let is_ended = from(text, at).first().is_none_or(|next| b".\r\n\"'\\".contains(next));
    (is_ended
        && is_of_driver(before)
        && before.trim_ascii_end().last().is_some_and(|sign| matches!(sign, b':' | b']')))
    .then(|| row(Row::Hang { ring: None, is_reset: true }))
}

/// `amdgpu 0000:c3:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3`, `... timeout, but soft recovered`
pub(super) fn ring_timeout(text: &[u8], at: usize) -> Option<line::Row> {
    let before = text.get(..at)?;
    let end = memchr::memmem::rfind(before, b" timeout, ")?;
    let start = memchr::memmem::rfind(before.get(..end)?, b"ring ")?;
    named_ring(before, start, start + "ring ".len(), end)
}

/// `Starting gfx_0.1.0 ring reset`, `Ring gfx_0.1.0 reset succeeded`
pub(super) fn ring_reset(text: &[u8], at: usize) -> Option<line::Row> {
    let before = text.get(..at)?;
    if let Some(end) = before.strip_suffix(b" ring reset").map(<[u8]>::len) {
        let start = memchr::memmem::rfind(before, b"Starting ")?;
        return named_ring(before, start, start + "Starting ".len(), end);
    }
    let end = memchr::memmem::rfind(before, b" reset ")?;
    let start = memchr::memmem::rfind(before.get(..end)?, b"Ring ")?;
    named_ring(before, start, start + "Ring ".len(), end)
}

/// The hang of the ring whose name is a word at a range of a line; `start`: the message's.
fn named_ring(text: &[u8], start: usize, first: usize, end: usize) -> Option<line::Row> {
    let ring = text.get(first..end).filter(|ring| !ring.contains(&b' '))?;
    is_of_driver(text.get(..start)?).then_some(())?;
    Some(hang_of(Some(name(ring)?)))
}

/// A message of the driver's that is the whole rest of its line: older kernels print no name before it.
pub(super) fn alone(text: &[u8], at: usize) -> Option<line::Row> {
    from(text, at).trim_ascii().is_empty().then(|| hang_of(None))
}

/// `amdgpu: MES failed to respond to msg=REMOVE_QUEUE`, and others with a value behind the mark.
pub(super) fn hang_of_queues(text: &[u8], at: usize) -> Option<line::Row> {
    is_of_driver(text.get(..at)?).then(|| hang_of(None))
}

/// `amdgpu 0000:08:00.0: amdgpu: 1 uncorrectable hardware errors detected in umc block`, since Linux 6.8 `2 new
/// uncorrectable`. `detected in total` counts since the driver's start.
pub(super) fn hardware_errors(text: &[u8], at: usize) -> Option<line::Row> {
    let before = text.get(..at)?;
    let mut words = before
        .strip_suffix(b"uncorrectable hardware errors detected in ")?
        .trim_ascii_end()
        .rsplit(|byte| *byte == b' ');
    let number = words.find(|word| *word != b"new")?;
    if from(text, at).starts_with(b"total ") {
        return None;
    }
    let has_some = number.iter().all(u8::is_ascii_digit) && number.iter().any(|digit| *digit != b'0');
    (has_some && is_of_driver(before)).then(|| row(Row::Ecc))
}

/// `sq_intr: error, detail 0x00000000, type 2, sh 0, priv 0, wave_id 1, ...` of gfx11 on, `sq_intr: error, se 0, ...,
/// priv 0, ..., err_type 1` before: an error of a wave (`kfd_int_process_v9.c` to `kfd_int_process_v12_1.c`). An access
/// that a page fault ends is one, too.
pub(super) fn wave_error(text: &[u8], at: usize) -> Option<line::Row> {
    let before = text.get(..at)?.strip_suffix(WAVE_ERROR.as_bytes())?.trim_ascii_end();
    let is_led = before.last().is_none_or(|last| b":]".contains(last));
    let text = from(text, at);
    // With privileges the wave was in the trap handler, whose errors follow those of others.
    if !is_led || !after(text, "priv ").is_some_and(|privileges| privileges.starts_with(b"0,")) {
        return None;
    }
    let mut cursor = Cursor::new(after(text, "err_type ").or_else(|| after(text, ", type "))?);
    let number = cursor.decimal().filter(|_| !cursor.rest.is_empty())?;
    let kind = match number {
        0 | 3 => FaultKind::Ecc,
        1 => FaultKind::IllegalInstruction,
        2 => FaultKind::Memory,
        _ => return None,
    };
    Some(row(Row::Wave(kind)))
}

/// The mark of an error of a wave.
pub(super) const WAVE_ERROR: &str = "sq_intr: error, ";

/// How much of a row a line has that may end within it, by the row's last value.
pub(super) fn wrapped(text: &[u8]) -> Option<Wrapped> {
    let end = text.trim_ascii_end();
    if end.len() == text.len() || !is_of_driver(text) {
        return None;
    }
    if let Some(rest) = after(end, "page fault") {
        return header_wrapped(rest);
    }
    let page = after(end, "page starting at address").map(|rest| (rest, ADDRESS_DIGITS));
    let status = || {
        let names = ["PROTECTION_FAULT_STATUS:", "PROTECTION_FAULT_STATUS_LO32:"];
        names.iter().find_map(|name| after(end, name)).map(|rest| (rest, REGISTER_DIGITS))
    };
    let (rest, digits) = page.or_else(status)?;
    let rest = rest.trim_ascii_start();
    let number = rest.strip_prefix(b"0x").unwrap_or(rest);
    let length = number.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let behind = from(number, length);
    match (behind, length == digits) {
        (b"", false) if length < digits => Some(Wrapped::Beginning),
        (b"", true) if digits == REGISTER_DIGITS => Some(Wrapped::Whole),
        // Words and numbers of another line are no part of an address.
        (behind, true) if digits == ADDRESS_DIGITS && number.get(..digits)?.ends_with(b"000") => {
            let client = [" from client ", " from IH client ", " from "];
            let number = client.iter().find_map(|client| behind.strip_prefix(client.as_bytes()));
            match number {
                Some(number) if number.first().is_some_and(u8::is_ascii_digit) => Some(Wrapped::Whole),
                _ if client.iter().any(|client| client.as_bytes().starts_with(behind)) => {
                    Some(Wrapped::Beginning)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// How much of the first row's parentheses a line has: `(src_id:0 ring:24 vmid:3 pasid:32769, for process app pid 12 thread
/// app pid 12)`.
fn header_wrapped(rest: &[u8]) -> Option<Wrapped> {
    /// Maximum bytes of the processes.
    const MAX: usize = 160;
    const NAMES: [&[u8]; 2] = [b" (src_id:# ring:# vmid:# pasid:#", b" (src_id:# ring:# vm_id:# pasid:#"];
    const PROCESS: &[u8] = b", for process ";
    let mut text = Vec::new();
    for byte in rest {
        match (byte.is_ascii_digit(), text.last()) {
            (true, Some(b'#')) => {}
            (true, _) => text.push(b'#'),
            (false, _) => text.push(*byte),
        }
    }
    let begins = |whole: &[u8], part: &[u8]| whole.starts_with(part);
    if NAMES.iter().any(|name| begins(name, &text)) {
        return Some(Wrapped::Beginning);
    }
    let behind = NAMES.iter().find_map(|name| text.strip_prefix(*name))?;
    match behind {
        b")" => Some(Wrapped::Whole),
        b"" => Some(Wrapped::Beginning),
        behind if begins(PROCESS, behind) => Some(Wrapped::Beginning),
        behind if begins(behind, PROCESS) && behind.len() < MAX => {
            let is_whole = process_id(rest).is_some() && behind.ends_with(b" pid #)");
            Some(if is_whole { Wrapped::Whole } else { Wrapped::Beginning })
        }
        _ => None,
    }
}

/// The driver's name of the GPU before a message: `amdgpu 0000:03:00.0: `, and on FreeBSD `drmn0: `.
pub(super) fn device(text: &[u8]) -> Option<String> {
    pci(text).or_else(|| {
        let at = find(text, "drmn")?;
        let is_word =
            at.checked_sub(1).and_then(|at| text.get(at)).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let mut cursor = Cursor::new(from(text, at + "drmn".len()));
        let number = cursor.decimal().filter(|_| is_word && cursor.take(":"))?;
        Some(format!("drmn{number}"))
    })
}

fn pci(text: &[u8]) -> Option<String> {
    // A host may have the driver's name.
    memchr::memmem::find_iter(text, b"amdgpu ").find_map(|at| {
        let mut cursor = Cursor::new(from(text, at + "amdgpu ".len()));
        let address = cursor.run(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
        let address = std::str::from_utf8(address.strip_suffix(b":").unwrap_or(address)).ok()?;
        location(address).map(|_| address.to_ascii_lowercase())
    })
}

/// PCI domain, bus, device and function of `0000:03:00.0`, as `Hardware::location` has them.
pub(super) fn location(device: &str) -> Option<u32> {
    let mut cursor = Cursor::new(device.as_bytes());
    let mut number = |separator: &str, digits: usize| {
        let (found, value) = cursor.hex()?;
        (found == digits && cursor.take(separator)).then_some(value)
    };
    let (domain, bus, device) = (number(":", 4)?, number(":", 2)?, number(".", 2)?);
    let function = cursor.hex().map(|(_, function)| function).filter(|function| *function < 8)?;
    let location = bus << 8 | (device & 0x1f) << 3 | function;
    // The driver's location has no domain: it is kept apart in the upper half.
    u32::try_from(domain << 16 | location).ok()
}
