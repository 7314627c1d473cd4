//! Finds the programs of MySQL and MariaDB: Debian's MariaDB, and a MySQL unpacked by `scripts/testbeds.sh`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip::skip;
use crate::testbeds_dir;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MyProduct {
    /// From Debian's packages.
    MariaDb,
    /// Unpacked into a folder with all its libraries.
    MySql,
}

impl MyProduct {
    pub const ALL: [Self; 2] = [Self::MariaDb, Self::MySql];

    /// The product's name as users write it: `MySQL`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
        }
    }
}

/// One set of server programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MyVersion {
    pub product: MyProduct,
    /// The full version, such as `10.11.19`.
    pub full: String,
    /// The command that starts the server: its program, or the loader that runs it with its own libraries.
    pub(crate) server: Vec<OsString>,
}

impl MyVersion {
    /// The version of `product` on this machine.
    pub fn of(product: MyProduct) -> Option<Self> {
        let server = match product {
            MyProduct::MariaDb => {
                vec![first_existing(&["/usr/sbin/mariadbd", "/usr/bin/mariadbd"])?.into_os_string()]
            }
            MyProduct::MySql => {
                unpacked(&testbeds_dir().join("mysql").canonicalize().ok()?, "usr/sbin/mysqld")?
            }
        };
        let mut command = Command::new(&server[0]);
        let output = command.args(&server[1..]).arg("--no-defaults").arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        // `mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for …`
        let full = text.split_whitespace().skip_while(|word| *word != "Ver").nth(1)?;
        let full = full.split('-').next()?.to_owned();
        Some(Self { product, full, server })
    }

    /// Both products, where installed; reports and counts a missing one.
    pub(crate) fn available() -> Vec<Self> {
        let versions = MyProduct::ALL.into_iter().filter_map(|product| {
            let version = Self::of(product);
            if version.is_none() {
                skip(
                    &format!("the test on {}", product.name()),
                    "its programs are not here; run scripts/testbeds.sh",
                );
            }
            version
        });
        versions.collect()
    }

    /// Arguments that tell the server where its own files are.
    pub(crate) fn base_arguments(&self) -> Vec<OsString> {
        let Some(program) = self.server.last().filter(|_| self.product == MyProduct::MySql) else {
            return Vec::new();
        };
        let base = Path::new(program).ancestors().nth(2).unwrap_or(Path::new("/"));
        let argument = |name: &str, path: PathBuf| {
            let mut word = OsString::from(format!("--{name}="));
            word.push(path);
            word
        };
        vec![
            argument("basedir", base.to_path_buf()),
            argument("lc-messages-dir", base.join("share/mysql")),
            argument("plugin-dir", base.join("lib/mysql/plugin")),
            "--secure-file-priv=".into(),
            "--mysqlx=OFF".into(),
        ]
    }
}

fn first_existing(paths: &[&str]) -> Option<PathBuf> {
    paths.iter().map(PathBuf::from).find(|path| path.exists())
}

/// The command that runs `program` under `root` with the loader and the libraries there, so that the system's
/// libraries need not match and no chroot is needed.
pub(crate) fn unpacked(root: &Path, program: &str) -> Option<Vec<OsString>> {
    let server = root.join(program);
    let triple = std::fs::read_dir(root.join("usr/lib")).ok()?.flatten().map(|entry| entry.path());
    let libraries = triple.into_iter().find(|path| path.join("libc.so.6").exists())?;
    let loader = std::fs::read_dir(&libraries).ok()?.flatten().map(|entry| entry.path());
    let is_loader = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("ld-linux"))
    };
    let loader = loader.into_iter().find(is_loader)?;
    server.exists().then(|| vec![loader.into(), "--library-path".into(), libraries.into(), server.into()])
}
