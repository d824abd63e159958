//! The debuginfod client, with Debian's server and with hostile servers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::super::Debuginfod;
use super::{KERNEL, Kernels, build_id};
use crate::wait::until;

/// A server over a folder, killed on drop.
struct Server {
    child: Child,
    url: String,
    _state: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts debuginfod(8) over ELF files in a folder and waits until it has scanned them.
    fn start(folder: &Path) -> Self {
        for _ in 0..5 {
            let state = tempfile::tempdir().unwrap();
            // A free port, which another process may take before the server does.
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new("debuginfod");
            command
                .args(["-F", "-p", &port.to_string(), "-d"])
                .arg(state.path().join("index.sqlite"))
                .arg(folder);
            // Otherwise it would ask other servers for missing files.
            command.env_remove("DEBUGINFOD_URLS").env("HOME", state.path());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let child = command.spawn().expect("debuginfod is needed: see scripts/setup");
            let mut server = Self { child, url: format!("http://127.0.0.1:{port}"), _state: state };
            let has_ended = until("a scan of debuginfod", || {
                let has_ended = server.child.try_wait().unwrap().is_some();
                (has_ended || scanned(port)).then_some(has_ended)
            });
            if !has_ended {
                return server;
            }
        }
        panic!("debuginfod ends on every port");
    }
}

/// Whether the server has finished its first scan, by its metrics.
fn scanned(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let _ = write!(stream, "GET /metrics HTTP/1.0\r\n\r\n");
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<f64>().ok()
    };
    value("thread_work_total{role=\"traverse\"}").is_some_and(|count| count >= 1.0)
        && value("thread_work_pending{role=\"scan\"}").is_some_and(|count| count == 0.0)
        && value("thread_busy{role=\"scan\"}").is_none_or(|count| count == 0.0)
}

fn client(url: &str, cache: &Path) -> Debuginfod {
    let mut client = Debuginfod::new(&[url.to_owned()]);
    client.cache = Some(cache.to_owned());
    client.timeout = 20;
    client.max_size = 1 << 30;
    client
}

fn bytes_of(id: &str) -> Vec<u8> {
    (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn debians_server_gives_a_saved_code_object_and_the_cache_is_elfutils() {
    let kernels = Kernels::new();
    let served = tempfile::tempdir().unwrap();
    std::fs::copy(kernels.path(KERNEL), served.path().join("saved.hsaco")).unwrap();
    let server = Server::start(served.path());
    let id = build_id(&kernels.path(KERNEL));
    let cache = tempfile::tempdir().unwrap();
    let mut servers = client(&server.url, cache.path());
    for kind in ["executable", "debuginfo"] {
        let file = servers.fetch(&bytes_of(&id), kind).unwrap().expect("the server has it");
        assert_eq!(file, cache.path().join(&id).join(kind));
        assert_eq!(std::fs::read(&file).unwrap(), kernels.bytes(), "{kind}");
    }
    assert_eq!(servers.fetch(&[7; 20], "executable"), Ok(None));
    // A missing file is requested once.
    let left = servers.requests;
    assert_eq!((servers.fetch(&[7; 20], "executable"), servers.requests), (Ok(None), left));
    assert_eq!((servers.fetch(&[7; 20], "debuginfo"), servers.requests), (Ok(None), left - 1));
    // No partial files beside them.
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(cache.path().join(&id)).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert_eq!(names, ["debuginfo", "executable"].map(|name| cache.path().join(&id).join(name)));
    // elfutils' client finds them in the cache without a server, and so does this one.
    let mut command = Command::new("debuginfod-find");
    command.args(["executable", &id]).env("DEBUGINFOD_CACHE_PATH", cache.path());
    // It uses its cache only with a configured server.
    let output = command.env("DEBUGINFOD_URLS", "http://127.0.0.1:1").output().expect("debuginfod-find runs");
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(Path::new(found.trim()), cache.path().join(&id).join("executable"));
    drop(server);
    let kept = servers.fetch(&bytes_of(&id), "executable");
    assert_eq!(kept, Ok(Some(cache.path().join(&id).join("executable"))));
}

/// A server that answers each connection with the same bytes, and then closes it or lets the client close it.
fn answering(answer: Vec<u8>, holds: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                line.clear();
            }
            let _ = stream.write_all(&answer);
            if holds {
                let _ = reader.read_to_end(&mut Vec::new());
            }
        }
    });
    url
}

#[test]
fn bad_answers_are_errors_and_are_not_kept() {
    let kernels = Kernels::new();
    let file = kernels.bytes();
    let id = bytes_of(&build_id(&kernels.path(KERNEL)));
    let ok =
        |headers: &str, body: &[u8]| [b"HTTP/1.1 200 OK\r\n", headers.as_bytes(), b"\r\n", body].concat();
    let size = format!("Content-Length: {}\r\n", file.len());
    let other = std::fs::read(kernels.path("O2.hsaco")).unwrap();
    let cases: [(Vec<u8>, &str); 9] = [
        (ok(&size, &file[..100]), "ends after 100 of"),
        (ok("", &file[..file.len() - 100]), "damaged: section headers"),
        (ok("", b"<html>no</html>"), "not an AMDGPU code object"),
        (ok("", b""), "the file is empty"),
        (ok("", &other), "has build id"),
        (b"HTTP/1.1 500 No\r\n\r\n".to_vec(), "the server answers 500 No"),
        (b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\n\r\n".to_vec(), "127.0.0.1"),
        ([b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'a'; 1 << 20]].concat(), "headers"),
        (b"garbage".to_vec(), ""),
    ];
    for (answer, expected) in cases {
        let cache = tempfile::tempdir().unwrap();
        let mut client = client(&answering(answer.clone(), false), cache.path());
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(60)]).into_owned();
        let error = client.fetch(&id, "executable").expect_err(&shown).to_string();
        assert!(error.to_lowercase().contains(&expected.to_lowercase()), "{shown}: {error}");
        assert!(!cache.path().join(crate::codeobject::hex(&id)).join("executable").exists());
        // A failed server is not asked again.
        assert_eq!(client.fetch(&id, "debuginfo"), Ok(None), "{shown}");
    }
    // The same server's valid answer: the others fail only for their error.
    let cache = tempfile::tempdir().unwrap();
    let mut client = client(&answering(ok(&size, &file), false), cache.path());
    assert!(client.fetch(&id, "executable").unwrap().is_some());
}

#[test]
fn size_and_time_are_bounded() {
    let kernels = Kernels::new();
    let file = kernels.bytes();
    let id = bytes_of(&build_id(&kernels.path(KERNEL)));
    let answer = [&b"HTTP/1.1 200 OK\r\n\r\n"[..], &file].concat();
    let cache = tempfile::tempdir().unwrap();
    let mut small = client(&answering(answer.clone(), false), cache.path());
    small.max_size = 1000;
    assert!(small.fetch(&id, "executable").unwrap_err().to_string().contains("more than 1000 bytes"));
    let mut slow = client(&answering(answer[..60].to_vec(), true), cache.path());
    slow.timeout = 1;
    // The rest never comes.
    let error = slow.fetch(&id, "executable").unwrap_err();
    assert!(error.to_string().contains("the timeout of the request was reached"), "{error}");
    let mut secure = client("https://127.0.0.1:1", cache.path());
    assert!(secure.fetch(&id, "executable").unwrap_err().to_string().contains("TLS is not supported"));
    let mut nobody = client("http://127.0.0.1:1", cache.path());
    assert!(nobody.fetch(&id, "executable").is_err());
    nobody.urls = vec!["http://127.0.0.1:1".to_owned()];
    nobody.requests = 0;
    assert!(nobody.fetch(&id, "debuginfo").unwrap_err().to_string().contains("more than 512 requests"));
    // Invalid build ids are never requested.
    assert_eq!(nobody.fetch(&[1], "executable"), Ok(None));
    assert_eq!(nobody.fetch(&[1; 65], "executable"), Ok(None));
}
