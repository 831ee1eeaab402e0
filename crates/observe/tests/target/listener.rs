//! Finding the process that listens on a port.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::Path;

use slowpath_observe::target::{find_listener, free_port};

#[test]
fn our_own_listener_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(
        find_listener(Path::new("/proc"), address),
        Ok(vec![std::process::id()])
    );
    let wildcard = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = wildcard.local_addr().unwrap().port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    assert_eq!(
        find_listener(Path::new("/proc"), address),
        Ok(vec![std::process::id()])
    );
}

#[test]
fn what_is_not_here_has_a_reason() {
    let port = free_port().unwrap();
    let hidden = |address: SocketAddr| find_listener(Path::new("/proc"), address).unwrap_err();
    let nobody = hidden(SocketAddr::from(([127, 0, 0, 1], port)));
    assert!(
        nobody.reason.starts_with("nothing listens on 127.0.0.1"),
        "{nobody}"
    );
    // An address reserved for documentation belongs to no host.
    let remote = hidden(SocketAddr::from(([192, 0, 2, 1], port)));
    assert!(
        remote.reason.contains("no address of this host"),
        "{remote}"
    );
}

/// A tree like /proc with a socket of inode 77 that listens on port 8080 of every address.
fn tree(processes: &[(u32, u32, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("net")).unwrap();
    let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  \
                 timeout inode\n   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 \
                 00:00000000 00000000  1000        0 77 1 0000000000000000 100 0 0 10 0\n";
    fs::write(root.path().join("net/tcp"), table).unwrap();
    for (pid, parent, name) in processes {
        let folder = root.path().join(pid.to_string());
        fs::create_dir_all(folder.join("fd")).unwrap();
        symlink("socket:[77]", folder.join("fd/3")).unwrap();
        fs::write(folder.join("comm"), format!("{name}\n")).unwrap();
        let zeros = "0 ".repeat(47);
        fs::write(
            folder.join("stat"),
            format!("{pid} ({name}) S {parent} {pid} {zeros}\n"),
        )
        .unwrap();
    }
    root
}

#[test]
fn workers_are_found_through_their_master() {
    let address = SocketAddr::from(([127, 0, 0, 1], 8080));
    let nginx = [(50, 1, "nginx"), (51, 50, "nginx"), (52, 50, "nginx")];
    assert_eq!(find_listener(tree(&nginx).path(), address), Ok(vec![50]));
    let separate = [(50, 1, "server"), (60, 1, "server")];
    assert_eq!(
        find_listener(tree(&separate).path(), address),
        Ok(vec![50, 60])
    );
}

#[test]
fn a_service_manager_that_holds_the_socket_is_not_the_server() {
    let address = SocketAddr::from(([127, 0, 0, 1], 8080));
    let activated = [(1, 0, "systemd"), (50, 1, "server")];
    assert_eq!(
        find_listener(tree(&activated).path(), address),
        Ok(vec![50])
    );
    let waiting = [(1, 0, "systemd")];
    assert_eq!(find_listener(tree(&waiting).path(), address), Ok(vec![1]));
}

#[test]
fn another_users_process_is_hidden() {
    let hidden = find_listener(tree(&[]).path(), SocketAddr::from(([127, 0, 0, 1], 8080)));
    let hidden = hidden.unwrap_err();
    assert!(hidden.reason.contains("user id 1000"), "{hidden}");
    assert!(hidden.remedy.contains("as that user"), "{hidden}");
}
