//! `--source-map OLD=NEW`: new locations of source files that moved after compilation.

use super::Failure;
use crate::capture::SourceMap;

#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct SourceArgs {
    /// Source files whose paths begin with OLD in line tables are found with NEW in its place; `.` is the compilation
    /// directory of relative paths; may be repeated, the first that fits counts
    #[arg(long = "source-map", value_name = "OLD=NEW")]
    pairs: Vec<String>,
}

impl SourceArgs {
    /// The map. A relative NEW is relative to the working directory.
    ///
    /// # Errors
    /// A pair does not have the form OLD=NEW.
    pub(super) fn map(&self) -> Result<SourceMap, Failure> {
        let mut map = SourceMap::default();
        for pair in &self.pairs {
            let wrong = || format!("--source-map {pair}: expected OLD=NEW, two folders");
            let (old, new) = pair.split_once('=').ok_or_else(wrong)?;
            if new.is_empty() {
                return Err(wrong().into());
            }
            let new = std::path::absolute(new)?;
            map.add(old, &new.to_string_lossy()).map_err(|why| format!("--source-map {pair}: {why}"))?;
        }
        Ok(map)
    }
}
