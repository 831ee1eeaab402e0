//! Targets that speak something else than they are spoken to in: one sentence, exit code 3, and no
//! request.

use crate::support::{Server, slowpath, stderr};

#[test]
fn a_target_that_speaks_otherwise_is_told_at_once() {
    for (scheme, option, said) in [
        (
            "https",
            "--insecure",
            "does not answer the handshake\n  try: check scheme and port of the URL",
        ),
        (
            "http",
            "--http2",
            "does not speak HTTP/2: it answers with HTTP/1\n  try: HTTP/1.1:",
        ),
    ] {
        let server = Server::lab(&["healthy"]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let url = format!("{scheme}://127.0.0.1:{}/", server.port);
        let output = slowpath(folder.path(), &["run", &url, option, "--duration", "1s"]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains(said), "{told}");
        assert_eq!(server.truth()["requests"], 0);
    }
}
