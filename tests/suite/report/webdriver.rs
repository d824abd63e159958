//! A browser over the WebDriver protocol: Debian's chromium, without a network.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// The key of an element in WebDriver's JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Maximum height of a picture.
const MAX_HEIGHT: f64 = 12_000.0;
/// Seconds for a script or a page.
const SECONDS: u64 = 180;

/// A browser with one page.
pub(super) struct Browser {
    driver: Child,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = minreq::delete(&self.session).send();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A file as the browser names it.
pub(super) fn url(file: &Path) -> String {
    format!("file://{}", file.display())
}

impl Browser {
    /// Starts a browser with a window of that size.
    pub(super) fn start(width: u32, height: u32) -> Self {
        let mut driver = Command::new("chromedriver")
            .args(["--port=0", "--log-level=SEVERE"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("no chromedriver: run scripts/setup");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            Some(line.split_once("successfully on port ")?.1.trim_end_matches('.').to_owned())
        });
        // The driver writes on: without a reader it would stop.
        std::thread::spawn(move || lines.for_each(drop));
        let root = format!("http://127.0.0.1:{}", port.expect("chromedriver reports no port"));
        let mut browser = Self { driver, session: format!("{root}/session") };
        let size = format!("--window-size={width},{height}");
        // Tests run as root, where chromium has no sandbox. No name and no address resolves.
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            size.as_str(),
        ];
        let found = browser.post(
            "",
            json!({ "capabilities": { "alwaysMatch": {
                "goog:chromeOptions": { "args": arguments },
                "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            } } }),
        );
        let id = found["sessionId"].as_str().unwrap_or_else(|| panic!("no browser: {found}"));
        browser.session = format!("{root}/session/{id}");
        // Other work on the machine makes pages slow: only a hanging browser is a failure.
        browser.post("/timeouts", json!({ "script": SECONDS * 1000, "pageLoad": SECONDS * 1000 }));
        browser
    }

    fn post(&self, path: &str, body: Value) -> Value {
        let sent = minreq::post(format!("{}{path}", self.session))
            .with_body(body.to_string())
            .with_timeout(SECONDS + 10);
        let reply = sent.send().unwrap();
        let reply: Value = serde_json::from_str(reply.as_str().unwrap()).unwrap();
        assert!(reply["value"].get("error").is_none(), "{path}: {reply}");
        reply["value"].clone()
    }

    /// Opens a page.
    pub(super) fn open(&self, url: &str) {
        self.post("/url", json!({ "url": url }));
    }

    /// The result of the body of a function.
    pub(super) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// The value that the body of a function passes to its last argument.
    pub(super) fn wait(&self, script: &str) -> Value {
        self.post("/execute/async", json!({ "script": script, "args": [] }))
    }

    /// The text of the first element.
    pub(super) fn text(&self, selector: &str) -> String {
        let text = self.run(&format!("return document.querySelector({selector:?}).textContent"));
        text.as_str().unwrap().to_owned()
    }

    /// Clicks an element with the pointer.
    pub(super) fn click(&self, selector: &str) {
        let found = self.post("/element", json!({ "using": "css selector", "value": selector }));
        let id = found[ELEMENT].as_str().unwrap();
        self.post(&format!("/element/{id}/click"), json!({}));
    }

    /// Presses keys one after the other: characters, or WebDriver's codes of keys.
    pub(super) fn keys(&self, keys: &str) {
        let each = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })));
        let each: Vec<Value> = each.collect();
        self.post("/actions", json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": each }] }));
    }

    /// A command of Chrome's own protocol.
    pub(super) fn chrome(&self, command: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({ "cmd": command, "params": parameters }))
    }

    /// The messages of the console since the last call.
    pub(super) fn console(&self) -> Vec<Value> {
        self.post("/se/log", json!({ "type": "browser" })).as_array().unwrap().clone()
    }

    /// The addresses of all requests since the last call.
    pub(super) fn requests(&self) -> Vec<String> {
        let events = self.post("/se/log", json!({ "type": "performance" }));
        let address = |event: &Value| {
            let event: Value = serde_json::from_str(event["message"].as_str()?).ok()?;
            let is_request = event["message"]["method"] == "Network.requestWillBeSent";
            let address = event["message"]["params"]["request"]["url"].as_str()?.to_owned();
            is_request.then_some(address)
        };
        events.as_array().unwrap().iter().filter_map(address).collect()
    }

    /// Makes the page dark or light.
    pub(super) fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.chrome("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Gives the page the width of a phone or of a window.
    pub(super) fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.chrome("Emulation.setDeviceMetricsOverride", size);
    }

    /// Saves a picture of the page where `LANESCOPE_SHOTS` names a folder: for people who look at pages.
    pub(super) fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("LANESCOPE_SHOTS") else { return };
        let size = self.chrome("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let height = size["height"].as_f64().unwrap().min(MAX_HEIGHT);
        let clip =
            json!({ "x": 0, "y": 0, "width": self.run("return innerWidth"), "height": height, "scale": 1 });
        let shot =
            self.chrome("Page.captureScreenshot", json!({ "captureBeyondViewport": true, "clip": clip }));
        let script = "import base64, sys; open(sys.argv[1], 'wb').write(base64.b64decode(sys.stdin.read()))";
        let file = Path::new(&folder).join(format!("{name}.png"));
        let mut decode =
            Command::new("python3").args(["-c", script]).arg(file).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(
            &mut decode.stdin.take().unwrap(),
            shot["data"].as_str().unwrap().as_bytes(),
        )
        .unwrap();
        assert!(decode.wait().unwrap().success());
    }
}
