//! The log of the running application, as a file or a client gets it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

const SOON: Duration = Duration::from_secs(20);

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The next line with `part` in it.
fn line_with(lines: &Receiver<String>, part: &str) -> String {
    loop {
        let line = lines.recv_timeout(SOON).expect(part);
        if line.contains(part) {
            return line;
        }
    }
}

// Issue 9, §3: no colour codes where standard error is not a terminal.
#[test]
fn lines_without_colours() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_behind-axum"));
    command
        .env("TOKENS", "secret=ada")
        .env("ADDRESS", "127.0.0.1:0")
        .env_remove("NO_COLOR")
        .stderr(Stdio::piped());
    let mut running = Running(command.spawn().expect("it starts"));
    let errors = running.0.stderr.take().expect("it is piped");
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(errors).lines() {
            // The test may have ended.
            let _ = sender.send(line.expect("UTF-8"));
        }
    });
    let listening = line_with(&lines, "listening on http://");
    let (_, address) = listening.split_once("http://").expect("an address");
    let (address, _) = address.split_once('/').expect("a path");

    // A request to another host is refused, and logged.
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a time");
    let request = "GET /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let warned = line_with(&lines, "evil.example");
    assert!(warned.contains("WARN"), "{warned}");
    assert!(!warned.contains('\u{1b}'), "{warned:?}");

    // The guide advises the same words.
    let colours = ".with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))";
    assert!(include_str!("../src/main.rs").contains(colours));
    assert!(include_str!("../../../runtime/src/guide/logging.md").contains(colours));
}
