//! A Slurm cluster of one machine, for the recipes on pages.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// A running cluster. Dropping it stops its programs.
#[derive(Debug)]
pub(crate) struct Slurm {
    directory: TempDir,
    programs: Vec<Child>,
}

fn printed(program: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program).args(arguments).output().unwrap();
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

impl Slurm {
    /// Starts a controller and a worker, and waits until the worker takes jobs. Jobs find programs in `path`.
    pub(crate) fn start(path: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let place = directory.path().to_str().unwrap();
        let (host, user) = (printed("hostname", &["-s"]), printed("id", &["-un"]));
        // Held until both are known, so that they differ.
        let free = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [of_controller, of_worker] =
            free.each_ref().map(|socket| socket.local_addr().unwrap().port());
        drop(free);
        let cores = thread::available_parallelism().unwrap();
        let settings = format!(
            "ClusterName=one\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/none\nCredType=cred/none\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             ReturnToService=2\nSlurmctldPort={of_controller}\nSlurmdPort={of_worker}\n\
             SlurmctldPidFile={place}/controller.pid\nSlurmdPidFile={place}/worker.pid\n\
             SlurmdSpoolDir={place}/spool\nStateSaveLocation={place}/state\n\
             AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN\n\
             PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP\n"
        );
        for made in ["spool", "state"] {
            fs::create_dir(directory.path().join(made)).unwrap();
        }
        let mut slurm = Self { directory, programs: Vec::new() };
        fs::write(slurm.settings(), settings).unwrap();
        for program in ["slurmctld", "slurmd"] {
            let log = fs::File::create(slurm.directory.path().join(program)).unwrap();
            let mut command = Command::new(program);
            command.arg("-D").envs([slurm.variable()]).env("PATH", path);
            let errors = log.try_clone().unwrap();
            command.stdin(Stdio::null()).stdout(log).stderr(errors);
            slurm.programs.push(command.spawn().unwrap());
        }
        for _ in 0..600 {
            let mut state = Command::new("sinfo");
            state.args(["--noheader", "--format", "%T"]).envs([slurm.variable()]);
            if state.output().unwrap().stdout.starts_with(b"idle") {
                return slurm;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let said = ["slurmctld", "slurmd"]
            .map(|program| fs::read_to_string(slurm.directory.path().join(program)).unwrap());
        panic!("the cluster does not start:\n{}", said.concat());
    }

    fn settings(&self) -> PathBuf {
        self.directory.path().join("slurm.conf")
    }

    /// Returns the environment variable that names this cluster to its programs.
    pub(crate) fn variable(&self) -> (&'static str, PathBuf) {
        ("SLURM_CONF", self.settings())
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for program in self.programs.iter_mut().rev() {
            // SIGTERM lets it stop its own children.
            let _ = Command::new("kill").arg(program.id().to_string()).status();
            let _ = program.wait();
        }
    }
}
