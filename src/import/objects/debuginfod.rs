//! A client of debuginfod servers: requests files by build id and stores them in the cache of elfutils' client.
//!
//! debuginfod(8): `GET URL/buildid/HEX/executable` and `/debuginfo`. Environment as debuginfod-client-config(7):
//! `DEBUGINFOD_URLS` (separated by spaces), `DEBUGINFOD_CACHE_PATH`, `DEBUGINFOD_TIMEOUT`, `DEBUGINFOD_MAXSIZE`. Both
//! clients share the cache `CACHE/HEX/executable`. Servers receive only build ids. TLS is not supported: servers of
//! distributions have no GPU code objects, and a private one is near.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::candidate::map;
use crate::codeobject::{CodeObject, CodeObjectError, hex};

/// Default limit of seconds for a whole request.
const TIMEOUT: u64 = 90;
/// Default limit of a file's size: 4 GiB.
const MAX_SIZE: u64 = 4 << 30;
/// Maximum number of requests for a capture.
const MAX_REQUESTS: usize = 512;
/// Maximum bytes of an answer's status line and headers.
const MAX_HEADERS: usize = 64 << 10;
const MAX_STATUS_LINE: usize = 4 << 10;
/// Maximum number of redirections.
const MAX_REDIRECTS: usize = 5;
/// Bytes of a build id; the usual one has 20.
const BUILD_ID: std::ops::RangeInclusive<usize> = 2..=64;

/// Servers and request settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debuginfod {
    /// URLs, `http://host:8002`.
    pub urls: Vec<String>,
    /// The cache folder.
    pub cache: Option<PathBuf>,
    /// Maximum seconds of a request.
    pub timeout: u64,
    /// Maximum bytes of a file.
    pub max_size: u64,
    /// Number of remaining requests.
    pub(super) requests: usize,
    /// Files that no server has, by build id and kind: one file may be loaded many times.
    absent: BTreeSet<(Vec<u8>, String)>,
}

impl Debuginfod {
    /// Creates a client of those servers, with the settings of this process's environment.
    #[must_use]
    pub fn new(urls: &[String]) -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name: &str| variable(name)?.to_str()?.trim().parse::<u64>().ok().filter(|n| *n > 0);
        let home = || variable("HOME").map(PathBuf::from);
        let cache = variable("DEBUGINFOD_CACHE_PATH").map(PathBuf::from).or_else(|| {
            let folder = variable("XDG_CACHE_HOME").map(PathBuf::from);
            Some(folder.or_else(|| Some(home()?.join(".cache")))?.join("debuginfod_client"))
        });
        Self {
            urls: urls.to_vec(),
            cache,
            timeout: number("DEBUGINFOD_TIMEOUT").unwrap_or(TIMEOUT),
            max_size: number("DEBUGINFOD_MAXSIZE").unwrap_or(MAX_SIZE),
            requests: MAX_REQUESTS,
            absent: BTreeSet::new(),
        }
    }

    /// The file of that kind (`executable`, `debuginfo`) and build id, in the cache or from a server.
    ///
    /// `Ok(None)`: no server has it. A server that fails gets no further requests.
    ///
    /// # Errors
    /// The error, unless a server answered.
    pub fn fetch(&mut self, build_id: &[u8], kind: &str) -> Result<Option<PathBuf>, FetchError> {
        if self.urls.is_empty() || !BUILD_ID.contains(&build_id.len()) {
            return Ok(None);
        }
        let Some(cache) = self.cache.clone() else {
            return Err(FetchError::NoCache);
        };
        let id = hex(build_id);
        let folder = cache.join(&id);
        let path = folder.join(kind);
        // elfutils marks a file that no server has with an empty file.
        if std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() > 0) {
            return Ok(Some(path));
        }
        let asked_for = (build_id.to_vec(), kind.to_owned());
        if self.absent.contains(&asked_for) {
            return Ok(None);
        }
        let mut problem = None;
        for url in self.urls.clone() {
            let Some(left) = self.requests.checked_sub(1) else {
                return Err(FetchError::TooMany);
            };
            self.requests = left;
            let asked = format!("{}/buildid/{id}/{kind}", url.trim_end_matches('/'));
            match self.get(&asked, build_id, &folder, &path) {
                Ok(true) => return Ok(Some(path)),
                Ok(false) => {}
                Err(why) => {
                    self.urls.retain(|other| *other != url);
                    problem = Some(FetchError::Server { url: asked, why });
                }
            }
        }
        if let Some(problem) = problem {
            return Err(problem);
        }
        self.absent.insert(asked_for);
        Ok(None)
    }

    /// Downloads a URL; returns whether the server has it.
    fn get(&self, url: &str, build_id: &[u8], folder: &Path, path: &Path) -> Result<bool, ServerError> {
        if !url.starts_with("http://") {
            return Err(ServerError::Scheme);
        }
        let request = minreq::get(url)
            .with_header("User-Agent", concat!("lanescope/", env!("CARGO_PKG_VERSION")))
            .with_timeout(self.timeout)
            .with_max_redirects(MAX_REDIRECTS)
            .with_max_headers_size(MAX_HEADERS)
            .with_max_status_line_length(MAX_STATUS_LINE);
        let answer = request.send_lazy().map_err(|error| ServerError::Http(error.to_string()))?;
        match answer.status_code {
            200 => {}
            404 => return Ok(false),
            status => return Err(ServerError::Status(status, answer.reason_phrase)),
        }
        let words = |error: std::io::Error| ServerError::Cache(error.to_string());
        std::fs::create_dir_all(folder).map_err(words)?;
        // Readers of the cache never see a partial file.
        let mut file = tempfile::Builder::new().prefix(".lanescope-").tempfile_in(folder).map_err(words)?;
        let size = answer.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let answer_size = size.and_then(|(_, size)| size.trim().parse::<u64>().ok());
        let mut body = answer.take(self.max_size.saturating_add(1));
        let (mut buffer, mut size) = (vec![0; 64 << 10], 0);
        loop {
            let got = body.read(&mut buffer).map_err(|error| ServerError::Http(error.to_string()))?;
            if got == 0 {
                break;
            }
            size += got as u64;
            if size > self.max_size {
                return Err(ServerError::TooLarge(self.max_size));
            }
            file.write_all(buffer.get(..got).unwrap_or_default()).map_err(words)?;
        }
        // A truncated or wrong file must not stay in a shared cache.
        if let Some(announced) = answer_size.filter(|announced| *announced != size) {
            return Err(ServerError::Truncated { size, announced });
        }
        check(file.path(), build_id)?;
        file.persist(path).map_err(|error| words(error.error))?;
        Ok(true)
    }
}

/// The reason that a file is neither in the cache nor on a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// There is no cache folder.
    #[error("no folder for debuginfod's answers: HOME is not set")]
    NoCache,
    /// The maximum number of requests is reached.
    #[error("more than {MAX_REQUESTS} requests to debuginfod; the others are left out")]
    TooMany,
    /// A server failed; it gets no more requests.
    #[error("{url}: {why}")]
    Server {
        /// The request.
        url: String,
        /// The reason.
        why: ServerError,
    },
}

/// The reason that a server's answer is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// TLS, or another scheme.
    #[error("expected a URL that begins with http:// (TLS is not supported)")]
    Scheme,
    /// The client's error.
    #[error("{0}")]
    Http(String),
    /// The status and its text.
    #[error("the server answers {0} {1}")]
    Status(u16, String),
    /// The operating system's error for the cache.
    #[error("its cache: {0}")]
    Cache(String),
    /// The file exceeds the maximum size in bytes.
    #[error("the file has more than {0} bytes")]
    TooLarge(u64),
    /// The answer is shorter than announced.
    #[error("the answer ends after {size} of {announced} bytes")]
    Truncated {
        /// Bytes received.
        size: u64,
        /// Bytes according to the header.
        announced: u64,
    },
    /// The file is no code object.
    #[error("its answer is {0}")]
    File(CodeObjectError),
    /// The file is damaged.
    #[error("its answer is damaged: {0}")]
    Damaged(CodeObjectError),
    /// The file's build id, in hex.
    #[error("its answer has build id {0}")]
    BuildId(String),
    /// The file has no build id.
    #[error("its answer has no build id")]
    NoBuildId,
}

/// Checks that a file is a complete code object of that build id.
fn check(path: &Path, build_id: &[u8]) -> Result<(), ServerError> {
    let bytes = map(path).map_err(|error| ServerError::Cache(error.to_string()))?;
    let object = CodeObject::parse(bytes).map_err(ServerError::File)?;
    if let Some(problem) = object.problems().first() {
        return Err(ServerError::Damaged(problem.clone()));
    }
    match object.build_id() {
        Some(found) if *found == *build_id => Ok(()),
        Some(found) => Err(ServerError::BuildId(hex(&found))),
        None => Err(ServerError::NoBuildId),
    }
}
