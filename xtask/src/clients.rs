//! What to paste into each client so that it uses the server on this machine.

use serde_json::{Value, json};

const NAME: &str = "durable-thinking";

/// Prints the address, the token and a configuration for each client.
pub fn print(port: u16, token: &str, kept_in: &str) {
    println!("{}", render(port, token, kept_in));
}

fn render(port: u16, token: &str, kept_in: &str) -> String {
    let url = format!("http://127.0.0.1:{port}/mcp-compat");
    let bearer = format!("Bearer {token}");
    let headers = json!({ "Authorization": bearer });
    let vscode = json!({ "servers": { NAME: { "type": "http", "url": url, "headers": headers } } });
    let cursor = json!({ "mcpServers": { NAME: { "url": url, "headers": headers } } });
    let inspector = json!({ "mcpServers": { NAME: { "type": "streamable-http", "url": url, "headers": headers } } });
    format!(
        "
URL    {url}   (clients of protocol 2026-07-28: http://127.0.0.1:{port}/mcp)
Token  {token}   ({kept_in})

Claude Code
claude mcp add --transport http {NAME} {url} --header \"Authorization: {bearer}\"

VS Code, in .vscode/mcp.json
{}

Cursor, in .cursor/mcp.json
{}

MCP Inspector, with this in mcp.json: npx @modelcontextprotocol/inspector --config mcp.json --server {NAME}
{}",
        pretty(&vscode),
        pretty(&cursor),
        pretty(&inspector)
    )
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn every_configuration_holds_the_address_and_the_token() {
        let text = render(4321, "secret-token", "made up");
        assert_eq!(text.matches("http://127.0.0.1:4321/mcp-compat").count(), 5);
        assert_eq!(text.matches("Bearer secret-token").count(), 4);
        for client in ["Claude Code", "VS Code", "Cursor", "MCP Inspector"] {
            assert!(text.contains(client), "{client}");
        }
    }
}
