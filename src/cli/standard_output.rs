//! Standard output of commands: an error names it, and a closed one takes no byte.

use std::fs::File;
use std::io::{self, Write};

use anstream::AutoStream;

use crate::mapping;

/// Standard output, or the reason that it takes no byte.
#[derive(Debug)]
pub(super) struct StandardOutput(io::Result<AutoStream<File>>);

impl StandardOutput {
    pub(super) fn new() -> Self {
        Self(mapping::standard_output().map(AutoStream::auto))
    }

    fn with<T>(&mut self, call: impl FnOnce(&mut AutoStream<File>) -> io::Result<T>) -> io::Result<T> {
        match &mut self.0 {
            Ok(stream) => call(stream).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot write to the standard output: {error}"))
            }),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        match &self.0 {
            Ok(_) => self.with(AutoStream::flush),
            // Nothing was written.
            Err(_) => Ok(()),
        }
    }
}
