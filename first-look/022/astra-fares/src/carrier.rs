use std::time::Duration;

/// The carrier's booking system.
pub struct Carrier {
    agent: ureq::Agent,
    base: String,
}

impl Carrier {
    pub fn new(port: u16) -> Self {
        let agent = ureq::AgentBuilder::new()
            .timeout(Duration::from_secs(5))
            .build();
        Carrier {
            agent,
            base: format!("http://127.0.0.1:{port}"),
        }
    }

    pub fn quote(&self, route: u32) -> Result<(u32, u32), String> {
        let text = self
            .agent
            .get(&format!("{}/sailings/{route}", self.base))
            .call()
            .map_err(|e| e.to_string())?
            .into_string()
            .map_err(|e| e.to_string())?;
        let v: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        Ok((
            v["cents"].as_u64().unwrap_or(0) as u32,
            v["cabins"].as_u64().unwrap_or(0) as u32,
        ))
    }
}
