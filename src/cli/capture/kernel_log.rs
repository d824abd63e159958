//! The part of the kernel log that is written while a program runs.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::fcntl::OFlag;

/// The kernel's own device: a record a read, with all records of the buffer behind an open.
pub(super) const DEVICE: &str = "/dev/kmsg";

/// The longest record of the device, and more.
const RECORD: usize = 1 << 14;

/// Maximum bytes that are kept.
const MAX: u64 = 64 << 20;

/// A kernel log, open at its end.
#[derive(Debug)]
pub(super) struct KernelLog {
    file: File,
    is_device: bool,
}

impl KernelLog {
    /// Opens the log.
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
        let kind = file.metadata()?.file_type();
        let is_device = path == Path::new(DEVICE) && kind.is_char_device();
        if !is_device && !kind.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "neither a file nor the kernel's device"));
        }
        file.seek(SeekFrom::End(0))?;
        Ok(Self { file, is_device })
    }

    /// Writes what came since; without any, no file.
    pub(super) fn write(mut self, path: &Path) -> io::Result<()> {
        let text = match self.is_device {
            true => self.records()?,
            false => {
                let mut text = Vec::new();
                self.file.take(MAX).read_to_end(&mut text)?;
                text
            }
        };
        if text.is_empty() { Ok(()) } else { File::create(path)?.write_all(&text) }
    }

    fn records(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut record = vec![0; RECORD];
        while (text.len() as u64) < MAX {
            match self.file.read(&mut record) {
                Ok(0) => break,
                Ok(count) => text.extend(line(record.get(..count).unwrap_or_default()).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Newer records have replaced the next one.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(text)
    }
}

/// A record in `dmesg`'s form: `[ 1234.567890] message`. `None`: a record of a program, or of another form. The kernel's
/// `Documentation/ABI/testing/dev-kmsg`: level and facility, number, microseconds and flags, then the message; lines
/// behind it are properties.
pub(super) fn line(record: &[u8]) -> Option<Vec<u8>> {
    let record = record.split(|byte| *byte == b'\n').next()?;
    let at = record.iter().position(|byte| *byte == b';')?;
    let mut numbers = std::str::from_utf8(record.get(..at)?).ok()?.split(',');
    let (level, time): (u32, u64) = (numbers.next()?.parse().ok()?, numbers.nth(1)?.parse().ok()?);
    // The facility of the kernel is 0.
    if level >> 3 != 0 {
        return None;
    }
    let (seconds, rest) = (time / 1_000_000, time % 1_000_000);
    let mut line = format!("[{seconds:5}.{rest:06}] ").into_bytes();
    line.extend(record.get(at + 1..)?);
    line.push(b'\n');
    Some(line)
}
