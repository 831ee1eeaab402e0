//! Which program a process executes.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use slowpath_core::trace::{Process, Role, Runtime};

/// Where the first bytes of an executable say how wide its words are, and the value for 32 bits
/// (`EI_CLASS` and `ELFCLASS32` of elf(5)).
const ELF_CLASS: usize = 4;
const ELF_CLASS_32: u8 = 1;

/// A process, as far as its program is known; what runs its code is found later.
pub(crate) fn process(proc_root: &Path, pid: u32, role: Role) -> Process {
    let executable = name(proc_root, pid);
    Process {
        pid,
        role,
        program: program(proc_root, pid, &executable),
        executable,
        runtime: Runtime::Unknown,
    }
}

/// The file name of a process's executable, or the other name of the same file by which it was started (Debian's `redis-server` is
/// `redis-check-rdb`); empty for a thread of the kernel, and where it may not be seen.
fn name(proc_root: &Path, pid: u32) -> String {
    let link = fs::read_link(proc_root.join(format!("{pid}/exe")));
    let name = link.as_deref().ok().and_then(Path::file_name);
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let executable = link.as_deref().ok();
    if let Some(name) = executable.and_then(|path| other_name(proc_root, pid, path)) {
        return name;
    }
    // What the kernel says of an executable that was replaced.
    name.map_or_else(String::new, |name| {
        name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned()
    })
}

/// The name that a process was started by, where that is a link to its executable in the same directory and says more than the
/// executable's own name without its version (`python3` for `python3.11`).
fn other_name(proc_root: &Path, pid: u32, executable: &Path) -> Option<String> {
    let arguments = fs::read(proc_root.join(format!("{pid}/cmdline"))).ok()?;
    let first = arguments.split(|&byte| byte == 0 || byte == b' ').next()?;
    let first = String::from_utf8_lossy(first).into_owned();
    let name = Path::new(&first).file_name()?.to_str()?;
    let own = executable.file_name()?.to_str()?;
    if own.starts_with(name) {
        return None;
    }
    let link = executable.with_file_name(name);
    (fs::canonicalize(link).ok()? == executable).then(|| name.to_owned())
}

/// Options of an interpreter or a virtual machine that are followed by a value.
struct Interpreter {
    /// Its executable is called so, or so with a version.
    name: &'static str,
    /// Options whose value is the next argument.
    with_value: &'static [&'static str],
    /// Options whose value is the program's name.
    named_by: &'static [&'static str],
    /// Options after which there is code instead of a program.
    code: &'static [&'static str],
}

/// As their manual pages say: python3(1), node(1), ruby(1), perl(1), php(1), java(1).
const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        name: "python",
        with_value: &["-W", "-X", "--check-hash-based-pycs"],
        named_by: &["-m"],
        code: &["-c"],
    },
    Interpreter {
        name: "node",
        with_value: &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "-C",
            "--conditions",
        ],
        named_by: &[],
        code: &["-e", "--eval", "-p", "--print"],
    },
    Interpreter {
        name: "ruby",
        with_value: &["-C", "-I", "-r"],
        named_by: &[],
        code: &["-e"],
    },
    Interpreter {
        name: "perl",
        with_value: &["-I"],
        named_by: &[],
        code: &["-e", "-E"],
    },
    Interpreter {
        name: "php",
        with_value: &["-c", "-d", "-S", "-t", "-z"],
        named_by: &["-f"],
        code: &["-r"],
    },
    Interpreter {
        name: "java",
        with_value: &[
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--add-modules",
            "--add-opens",
            "--add-exports",
            "--add-reads",
        ],
        named_by: &["-jar", "-m", "--module"],
        code: &[],
    },
    Interpreter {
        name: "dotnet",
        with_value: &[],
        named_by: &["exec"],
        code: &[],
    },
];

impl Interpreter {
    /// The one that an executable is, by its name.
    fn called(executable: &str) -> Option<&'static Self> {
        INTERPRETERS.iter().find(|interpreter| {
            let version = executable.strip_prefix(interpreter.name);
            version.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        })
    }

    /// What it executes, by its arguments.
    fn program(&self, arguments: &[String]) -> Option<String> {
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            let is = |options: &[&str]| options.contains(&argument);
            if is(self.code) {
                return None;
            }
            if is(self.named_by) {
                return rest.next().and_then(file_name);
            }
            if is(self.with_value) {
                rest.next();
            } else if !argument.starts_with('-') {
                return file_name(argument);
            }
        }
        None
    }
}

/// The last part of a path.
fn file_name(path: &str) -> Option<String> {
    /// A longer name is no name.
    const CHARACTERS_MOST: usize = 60;
    let name = path.rsplit('/').next()?.trim();
    let is_name = !name.is_empty() && name.chars().count() <= CHARACTERS_MOST;
    (is_name && !name.contains(char::is_control)).then(|| name.to_owned())
}

/// What an interpreter or a virtual machine executes in a process: the file name of a script or an archive, or the name of a module
/// or a class. Only that is kept of its command line, which may hold secrets. A process that calls itself otherwise
/// (`gunicorn: worker [app]`) is what it calls itself. Empty if its executable is no interpreter.
fn program(proc_root: &Path, pid: u32, executable: &str) -> String {
    let Some(interpreter) = Interpreter::called(executable) else {
        return String::new();
    };
    let Ok(line) = fs::read(proc_root.join(format!("{pid}/cmdline"))) else {
        return String::new();
    };
    let all = line.split(|&byte| byte == 0);
    let all = all.map(|argument| String::from_utf8_lossy(argument).into_owned());
    let all: Vec<String> = all.filter(|argument| !argument.is_empty()).collect();
    let Some((first, rest)) = all.split_first() else {
        return String::new();
    };
    let own = rest
        .is_empty()
        .then(|| titled(first, interpreter))
        .flatten();
    let program = own.or_else(|| interpreter.program(rest));
    program.unwrap_or_default()
}

/// The first word of what a process calls itself instead of its command line.
fn titled(line: &str, interpreter: &Interpreter) -> Option<String> {
    let words = line.split([' ', ':']).next()?;
    let name = file_name(words)?;
    (!name.starts_with(interpreter.name)).then_some(name)
}

/// Whether a process executes a program of 32 bits, whose system calls have other numbers.
pub(crate) fn is_narrow(proc_root: &Path, pid: u32) -> bool {
    let mut head = [0; ELF_CLASS + 1];
    File::open(proc_root.join(format!("{pid}/exe")))
        .and_then(|mut file| file.read_exact(&mut head))
        .is_ok_and(|()| head.starts_with(b"\x7fELF") && head[ELF_CLASS] == ELF_CLASS_32)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_with_several_names_has_the_one_that_it_was_started_by() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in ["check", "interpreter3.11"] {
            fs::write(root.join(file), "").unwrap();
        }
        symlink("check", root.join("serve")).unwrap();
        symlink("interpreter3.11", root.join("interpreter3")).unwrap();
        let started = |pid: u32, executable: &str, arguments: &str| {
            let process = root.join(pid.to_string());
            fs::create_dir(&process).unwrap();
            symlink(root.join(executable), process.join("exe")).unwrap();
            fs::write(process.join("cmdline"), arguments).unwrap();
            name(&root, pid)
        };
        assert_eq!(
            started(10, "check", "/usr/bin/serve 127.0.0.1:6379\0"),
            "serve"
        );
        assert_eq!(started(11, "check", "check\0file\0"), "check");
        assert_eq!(started(12, "check", "worker: idle\0"), "check");
        let versioned = started(13, "interpreter3.11", "interpreter3\0app\0");
        assert_eq!(versioned, "interpreter3.11");
        assert_eq!(name(&root, 14), "");
    }

    #[test]
    fn an_interpreter_is_known_by_what_it_executes() {
        let dir = tempfile::tempdir().unwrap();
        let of = |executable: &str, line: &str| {
            fs::create_dir_all(dir.path().join("7")).unwrap();
            fs::write(dir.path().join("7/cmdline"), line.replace(' ', "\0")).unwrap();
            program(dir.path(), 7, executable)
        };
        let cases = [
            (
                "python3.11",
                "python3 -X dev /srv/app.py --token=s3cret",
                "app.py",
            ),
            (
                "python3.11",
                "/venv/bin/python -m uvicorn app:api",
                "uvicorn",
            ),
            ("python3.11", "python3 -c import_this x.py", ""),
            (
                "node",
                "node --max-old-space-size=512 -r ./otel.js server.mjs",
                "server.mjs",
            ),
            (
                "java",
                "java -Xmx1g -cp /lib/a.jar:/lib/b.jar shop.Main 8080",
                "shop.Main",
            ),
            ("java", "java -Dkey=secret -jar /opt/shop.jar", "shop.jar"),
            ("ruby3.1", "ruby -I lib /usr/bin/puma -p 80", "puma"),
            ("nginx", "nginx -c x.conf", ""),
            ("pythonic", "pythonic a", ""),
            ("php8.2", "php -S 127.0.0.1:80 index.php", "index.php"),
            ("php-fpm8.2", "php-fpm: pool www", ""),
            ("node", "node", ""),
            ("node", "", ""),
        ];
        for (executable, line, expected) in cases {
            assert_eq!(of(executable, line), expected, "{line}");
        }
        // One argument with spaces is what a process calls itself.
        fs::write(dir.path().join("7/cmdline"), "gunicorn: worker [shop]\0\0").unwrap();
        assert_eq!(program(dir.path(), 7, "python3.11"), "gunicorn");
        assert_eq!(program(dir.path(), 8, "python3.11"), "");
    }
}
