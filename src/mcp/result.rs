//! The wire shapes of results and what each era adds to them. What they hold is left to the `Server`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::json::{json, put, put_value};
use crate::jsonrpc::Params;
use crate::mcp::meta::SERVER_INFO;
use crate::mcp::version::{MODERN, Version};
use crate::mcp::{List, Server};

/// Fixed content changes with a deployment only; a client may keep it for an hour.
const TTL_MILLISECONDS: u32 = 3_600_000;

/// Who this server is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    pub name: &'static str,
    pub version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<[Icon; 1]>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    pub src: &'static str,
    pub mime_type: &'static str,
    pub sizes: [&'static str; 1],
}

impl About {
    /// With the members that `version` knows.
    fn for_version(&self, version: Version) -> Self {
        let mut about = self.clone();
        if !version.has_titles() {
            about.title = None;
        }
        if !version.has_icons() {
            about.description = None;
            about.website_url = None;
            about.icons = None;
        }
        about
    }
}

/// Whether a result may be kept by the client, and by whom else. Each deployment's fixed content is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    None,
    Public,
}

/// Answers `initialize`.
pub fn initialize<S: Server>(server: &S, version: Version) -> Params {
    let mut body = offer(server, version);
    put(&mut body, "protocolVersion", &version.name());
    let about = server.about().for_version(version);
    put(&mut body, "serverInfo", &about);
    body
}

/// Answers `server/discover`.
pub fn discover<S: Server>(server: &S, version: Version) -> Params {
    let mut body = offer(server, version);
    put(&mut body, "supportedVersions", &MODERN);
    body
}

fn offer<S: Server>(server: &S, version: Version) -> Params {
    let mut body = Params::new();
    put_value(&mut body, "capabilities", server.capabilities(version));
    if let Some(instructions) = server.instructions() {
        put(&mut body, "instructions", &instructions);
    }
    body
}

/// A result whose members are at hand as values.
pub fn from_body<S: Server>(
    server: &S,
    version: Version,
    mut body: Params,
    caching: Caching,
) -> Option<Box<RawValue>> {
    if version.is_modern() {
        body.entry("resultType")
            .or_insert_with(|| "complete".into());
        if caching == Caching::Public {
            put(&mut body, "ttlMs", &TTL_MILLISECONDS);
            put(&mut body, "cacheScope", &"public");
        }
        let meta = body.entry("_meta").or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            meta.insert(SERVER_INFO.to_owned(), identity(server));
        }
    }
    to_raw_value(&body).ok()
}

/// A list that is at hand as the JSON text of an array, so that it need not be built for each request.
pub fn from_list<S: Server>(
    server: &S,
    version: Version,
    list: List,
    items: &RawValue,
) -> Option<Box<RawValue>> {
    struct Body<'a> {
        member: &'static str,
        items: &'a RawValue,
        identity: Option<Value>,
    }
    impl Serialize for Body<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry(self.member, self.items)?;
            if let Some(identity) = &self.identity {
                map.serialize_entry("resultType", "complete")?;
                map.serialize_entry("ttlMs", &TTL_MILLISECONDS)?;
                map.serialize_entry("cacheScope", "public")?;
                map.serialize_entry("_meta", &json!({ SERVER_INFO: identity }))?;
            }
            map.end()
        }
    }
    to_raw_value(&Body {
        member: list.member(),
        items,
        identity: version.is_modern().then(|| identity(server)),
    })
    .ok()
}

fn identity<S: Server>(server: &S) -> Value {
    let about = server.about();
    json!({ "name": about.name, "version": about.version })
}
