//! Alarms of a real Alertmanager, where one is installed (Debian: `prometheus-alertmanager`).

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use super::alarm_hooks::{alarms, make};
use crate::harness::{Client, Server};

/// What its program is called: by Debian, and by its makers.
const PROGRAMS: [&str; 2] = ["prometheus-alertmanager", "alertmanager"];

/// An Alertmanager that posts to one hook; it ends when this is dropped.
struct Alertmanager<'a> {
    child: Child,
    client: Client,
    folder: &'a Path,
    hook: &'a str,
}

impl<'a> Alertmanager<'a> {
    /// Starts one; `None` where there is no program.
    fn start(folder: &'a Path, hook: &'a str) -> Option<Self> {
        let configuration = format!(
            "route: {{ receiver: troupe, group_by: [alertname], group_wait: 0s, group_interval: 1s }}\n\
             receivers: [{{ name: troupe, webhook_configs: [{{ url: '{hook}', send_resolved: true }}] }}]\n"
        );
        let file = folder.join("alertmanager.yml");
        fs::write(&file, configuration).expect("a file");
        let address = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its address");
        let child = PROGRAMS.iter().find_map(|program| {
            Command::new(program)
                .arg(format!("--config.file={}", file.display()))
                .arg(format!("--storage.path={}", folder.display()))
                .arg(format!("--web.listen-address={address}"))
                .arg("--cluster.listen-address=")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .ok()
        })?;
        Some(Self { child, client: Client::new(format!("http://{address}")), folder, hook })
    }

    /// Hands it alerts, as Prometheus does, once it listens.
    async fn tell(&mut self, server: &Server, alerts: &Value) {
        server
            .eventually("a listening Alertmanager", async || {
                if self.child.try_wait().expect("a process").is_some() {
                    // Somebody else was faster to take the port that was free.
                    *self = Self::start(self.folder, self.hook).expect("it started before");
                }
                let answer = self.client.post("/api/v2/alerts").json(alerts).try_send().await?;
                (answer.status == 200).then_some(())
            })
            .await;
    }
}

impl Drop for Alertmanager<'_> {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn an_alert_of_prometheus_reaches_people_through_a_real_alertmanager() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let org = format!("/v1/orgs/{}", ada.client.org("Acme").await);
    let made = make(&ada.client, &org, "Alertmanager").await.expect(201);
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut alertmanager) = Alertmanager::start(folder.path(), made.str("/url")) else {
        println!("skipped: no Alertmanager is installed (apt-get install prometheus-alertmanager)");
        return;
    };
    let alert = json!([{
        "labels": { "alertname": "DiskFull", "severity": "critical", "instance": "db-1:9100" },
        "annotations": { "summary": "The disk of db-1 is full", "description": "97 % of /var are in use." },
        "generatorURL": "http://prometheus.example.org:9090/graph",
    }]);
    alertmanager.tell(&server, &alert).await;
    let alarms = alarms(&server, &ada, 1).await;
    assert_eq!(alarms[0]["title"], "The disk of db-1 is full");
    assert_eq!(alarms[0]["body"], "97 % of /var are in use.");
    assert_eq!(alarms[0]["url"], "http://prometheus.example.org:9090/graph");
}
