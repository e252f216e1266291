//! The wire shapes of results and what each era adds to them. What they hold is left to the `Server`.

use serde::Serialize;

use crate::json::{Json, Object, json};
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

/// What a method answers, before its era adds to it.
#[derive(Clone, Debug)]
pub struct Body {
    pub members: Object,
    /// The members of `_meta`.
    pub meta: Object,
    /// What kind of answer this is since 2026-07-28.
    pub result_type: &'static str,
}

impl Body {
    pub fn new(members: Object) -> Self {
        Self {
            members,
            meta: Object::default(),
            result_type: "complete",
        }
    }
}

/// Answers `initialize`.
pub fn initialize<S: Server>(server: &S, version: Version) -> Body {
    let mut members = offer(server, version);
    members.put("protocolVersion", version.name());
    members.put("serverInfo", &server.about().for_version(version));
    Body::new(members)
}

/// Answers `server/discover`.
pub fn discover<S: Server>(server: &S, version: Version) -> Body {
    let mut members = offer(server, version);
    members.put("supportedVersions", &MODERN);
    Body::new(members)
}

fn offer<S: Server>(server: &S, version: Version) -> Object {
    let mut members = json!({ "capabilities": server.capabilities(version) });
    if let Some(instructions) = server.instructions() {
        members.put("instructions", instructions);
    }
    members
}

/// A result as its era spells it.
pub fn from_body<S: Server>(server: &S, version: Version, body: Body, caching: Caching) -> Object {
    let Body {
        mut members,
        mut meta,
        result_type,
    } = body;
    if version.is_modern() {
        members.put("resultType", result_type);
        if caching == Caching::Public {
            members.put("ttlMs", &TTL_MILLISECONDS);
            members.put("cacheScope", "public");
        }
        let about = server.about();
        meta.put(
            SERVER_INFO,
            &json!({ "name": about.name, "version": about.version }),
        );
    }
    if !meta.is_empty() {
        members.put("_meta", &meta);
    }
    members
}

/// A list, which is at hand as text.
pub fn from_list<S: Server>(server: &S, version: Version, list: List, items: &Json) -> Object {
    let mut members = Object::default();
    members.put(list.member(), items);
    from_body(server, version, Body::new(members), Caching::Public)
}
