//! A GPU core without other files gets debug information from Debian's debuginfod server, by the build id in memory.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{core, fixtures};
use crate::support::{listening_port, until};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether the server has scanned its files once, by its metrics.
fn has_scanned(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let _ = write!(stream, "GET /metrics HTTP/1.0\r\n\r\n");
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|number| number.trim().parse::<f64>().ok())
    };
    value("thread_work_total{role=\"traverse\"}").is_some_and(|count| count >= 1.0)
        && value("thread_work_pending{role=\"scan\"}") == Some(0.0)
        && value("thread_busy{role=\"scan\"}").is_none_or(|count| count == 0.0)
}

#[test]
fn variables_come_from_a_server_and_then_from_its_cache() {
    let folder = tempfile::tempdir().unwrap();
    let (served, cache) = (folder.path().join("served"), folder.path().join("cache"));
    std::fs::create_dir(&served).unwrap();
    std::fs::copy(fixtures().join("gpucore/code/k-gfx90a-O0.hsaco"), served.join("saved.hsaco")).unwrap();
    // debuginfod takes no port 0, and ends if another process has taken the free port in the meantime.
    let (server, port) = until("debuginfod listens", || {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("debuginfod");
        command
            .args(["-F", "-p", &port.to_string(), "-d"])
            .arg(folder.path().join("index.sqlite"))
            .arg(&served);
        command
            .env_remove("DEBUGINFOD_URLS")
            .env("HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut server = Server(command.spawn().expect("debuginfod is needed: see scripts/setup"));
        let listens = until("debuginfod listens or ends", || {
            let has_ended = server.0.try_wait().unwrap().is_some();
            (has_ended || listening_port(server.0.id()) == Some(port)).then_some(!has_ended)
        });
        listens.then_some((server, port))
    });
    until("debuginfod has scanned its files", || has_scanned(port).then_some(()));
    let url = format!("http://127.0.0.1:{port}");
    let ask = |urls: &str| -> Value {
        let output = crate::support::lanescope()
            .args(["info", "--json"])
            .arg(core("gfx90a-split"))
            .env("DEBUGINFOD_URLS", urls)
            .env("DEBUGINFOD_CACHE_PATH", &cache)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let asked = ask(&format!("http://127.0.0.1:1 {url}"));
    for object in asked["code_objects"].as_array().unwrap() {
        let origin = object["origin"].as_str().unwrap();
        assert!(origin.starts_with("debuginfod: ") && object["problem"].is_null(), "{object}");
    }
    drop(server);
    let kept = ask(&url);
    assert_eq!(kept["code_objects"], asked["code_objects"]);
    // Without servers neither a lookup nor the cache is used.
    let none = ask("");
    assert_eq!(none["code_objects"][0]["origin"], "its image in the captured memory");
}
