//! Requests to other servers: the port, and the network behind it.

use std::time::Duration;

use http::{Request, Response};

/// An answer that is longer is none that a check expects.
const BODY_BYTES_MAX: u64 = 4 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(20);

/// Port: sends a request and brings the answer, whatever its status, without following a redirect.
pub trait Https {
    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String>;
}

#[derive(Debug)]
pub struct Network {
    agent: ureq::Agent,
}

impl Default for Network {
    fn default() -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("durable-thinking/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self { agent }
    }
}

impl Https for Network {
    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        let response = self.agent.run(request).map_err(|error| error.to_string())?;
        let (parts, mut body) = response.into_parts();
        let body = body
            .with_config()
            .limit(BODY_BYTES_MAX)
            .read_to_vec()
            .map_err(|error| error.to_string())?;
        Ok(Response::from_parts(parts, body))
    }
}
