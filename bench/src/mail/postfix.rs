//! postfix as Debian has it, with a folder, a queue and a maildir of its own. It is started by root, as postfix wants it.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::free_address;
use crate::report::Result;

/// Where it takes mail for.
pub const RECIPIENT: &str = "box@bench.example";
/// Who owns the maildir: nobody.
const OWNER: u32 = 65_534;
const START_MAX: Duration = Duration::from_secs(20);

/// A running postfix. It ends with this handle.
pub struct Postfix {
    folder: TempDir,
    /// Where it takes mail.
    pub address: SocketAddr,
}

/// Why there is no postfix to compare with; none where there is one.
pub fn missing() -> Option<String> {
    for program in ["/usr/sbin/postfix", "/usr/sbin/smtp-source"] {
        if !Path::new(program).is_file() {
            return Some(format!("{program} isn't there (Debian's package postfix)"));
        }
    }
    (!rustix::process::getuid().is_root()).then(|| "postfix is started by root only".to_owned())
}

/// Has smtp-source send messages over 16 connections, one message each; how many are acknowledged a second.
pub fn smtp_source(address: SocketAddr, to: &str, messages: u32) -> Result<f64> {
    let mut command = Command::new("/usr/sbin/smtp-source");
    command.args(["-s", "16", "-m", &messages.to_string(), "-l", "4096", "-f", "sender@bench.example", "-t", to]);
    let begun = Instant::now();
    let status = command.arg(format!("inet:{address}")).status()?;
    if !status.success() {
        return Err(format!("smtp-source: {status}").into());
    }
    Ok(f64::from(messages) / begun.elapsed().as_secs_f64())
}

impl Postfix {
    /// Starts it with an empty queue.
    pub fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let this = Self { folder, address };
        // Its processes have users of their own.
        open(this.folder.path())?;
        for name in ["etc", "queue", "data", "maildir"] {
            fs::create_dir(this.path(name))?;
            open(&this.path(name))?;
        }
        chown(this.path("maildir"), Some(OWNER), Some(OWNER))?;
        let owner = user("postfix")?;
        chown(this.path("data"), Some(owner), None)?;
        fs::write(this.path("etc").join("main.cf"), this.main())?;
        fs::write(this.path("etc").join("master.cf"), master(address))?;
        this.tell("start")?;
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if begun.elapsed() > START_MAX {
                return Err("postfix takes no connections".into());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(this)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tell(&self, what: &str) -> Result<()> {
        let mut command = Command::new("/usr/sbin/postfix");
        let status = command.arg("-c").arg(self.path("etc")).arg(what).status()?;
        if status.success() { Ok(()) } else { Err(format!("postfix {what}: {status}").into()) }
    }

    /// As its package configures it, but for folders of its own, one domain that is delivered to one maildir, and no name looked up.
    fn main(&self) -> String {
        let place = |name: &str| self.path(name).display().to_string();
        format!(
            "compatibility_level = 3.6\nqueue_directory = {queue}\ndata_directory = {data}\nmail_owner = postfix\n\
             setgid_group = postdrop\nmyhostname = {host}\nmydestination =\ninet_interfaces = 127.0.0.1\n\
             inet_protocols = ipv4\nalias_maps =\nlocal_recipient_maps =\nsmtpd_peername_lookup = no\n\
             disable_dns_lookups = yes\nsmtpd_tls_security_level = none\nmynetworks = 127.0.0.0/8\n\
             smtpd_client_connection_count_limit = 0\nvirtual_mailbox_domains = bench.example\n\
             virtual_mailbox_base = {maildir}\nvirtual_mailbox_maps = static:box/\nvirtual_minimum_uid = 1\n\
             virtual_uid_maps = static:{OWNER}\nvirtual_gid_maps = static:{OWNER}\nmaillog_file = {folder}/log\n\
             maillog_file_prefixes = {folder}\n",
            queue = place("queue"),
            data = place("data"),
            maildir = place("maildir"),
            folder = self.folder.path().display(),
            host = super::HOST,
        )
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        if let Err(error) = self.tell("stop") {
            println!("{error}");
        }
    }
}

/// Has everybody read what is in a folder.
fn open(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?)
}

/// The number of a user.
fn user(name: &str) -> Result<u32> {
    let users = fs::read_to_string("/etc/passwd")?;
    let line = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|rest| rest.split(':').nth(1)).ok_or_else(|| format!("there is no user {name}"))?;
    Ok(number.parse()?)
}

/// The services that take mail and deliver it, as the package has them and outside of a root of their own.
fn master(address: SocketAddr) -> String {
    let port = address.port();
    format!(
        "{port} inet n - n - - smtpd\npickup unix n - n 60 1 pickup\ncleanup unix n - n - 0 cleanup\n\
         qmgr unix n - n 300 1 qmgr\nrewrite unix - - n - - trivial-rewrite\nbounce unix - - n - 0 bounce\n\
         defer unix - - n - 0 bounce\ntrace unix - - n - 0 bounce\nverify unix - - n - 1 verify\n\
         flush unix n - n 1000? 0 flush\nproxymap unix - - n - - proxymap\nsmtp unix - - n - - smtp\n\
         relay unix - - n - - smtp\nshowq unix n - n - - showq\nerror unix - - n - - error\n\
         retry unix - - n - - error\ndiscard unix - - n - - discard\nlocal unix - n n - - local\n\
         virtual unix - n n - - virtual\nlmtp unix - - n - - lmtp\nanvil unix - - n - 1 anvil\n\
         scache unix - - n - 1 scache\npostlog unix-dgram n - n - 1 postlogd\ntlsmgr unix - - n 1000? 1 tlsmgr\n"
    )
}
