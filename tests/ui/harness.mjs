// A host for cards in a real browser: two loopback origins, a double iframe, the SDK's AppBridge. Scenes use `openHost`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

// The specification's policy for a view whose resource asks for nothing.
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
  + "media-src 'self' data:; connect-src 'none'; base-uri 'self'";
const TRUSTED = "; require-trusted-types-for 'script'; trusted-types sandbox";

// The document that the program embeds, from the build script's own folder.
export function builtPage(name = "card.html") {
  const messages = execFileSync("cargo", ["check", "--quiet", "--lib", "--message-format=json"],
    { cwd: here("../.."), encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] });
  const script = messages.split("\n").filter(Boolean).map((line) => JSON.parse(line))
    .findLast((message) => message.reason === "build-script-executed" && /durable-thinking/.test(message.package_id));
  return readFileSync(`${script.out_dir}/${name}`, "utf8");
}

export async function openBrowser() {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text"] });
}

function listen(handler) {
  return new Promise((resolve) => {
    const server = createServer(handler);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}

const originOf = (server) => `http://127.0.0.1:${server.address().port}`;

// `upstream` is `{ url, token }` of a running server; its /mcp and /mcp-compat appear under the host's own origin, so
// that the token stays out of the page.
export async function serveHost(upstream) {
  const bundle = await build({
    entryPoints: [here("host/host.js")], bundle: true, format: "esm", write: false, logLevel: "error",
  });
  const program = bundle.outputFiles[0].text;
  const host = await listen(async (request, response) => {
    const { pathname } = new URL(request.url, "http://host");
    if (pathname.startsWith("/mcp") && upstream) {
      await forward(request, response, upstream);
    } else if (pathname === "/host.js") {
      response.writeHead(200, { "content-type": "text/javascript" }).end(program);
    } else if (pathname === "/favicon.ico") {
      response.writeHead(204).end();
    } else if (pathname === "/") {
      response.writeHead(200, { "content-type": "text/html" }).end(
        "<!doctype html><meta charset=utf-8><title>Host</title><body style='margin:16px'><script type=module src=/host.js></script>");
    } else {
      response.writeHead(404).end();
    }
  });
  const sandbox = await listen((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://sandbox");
    if (pathname !== "/sandbox.html") {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      "content-type": "text/html",
      "content-security-policy": POLICY + (searchParams.has("tt") ? TRUSTED : ""),
    }).end(readFileSync(here("host/sandbox.html")));
  });
  return {
    url: `${originOf(host)}/?sandbox=${encodeURIComponent(originOf(sandbox))}`,
    origins: [originOf(host), originOf(sandbox)],
    close() {
      host.closeAllConnections();
      sandbox.closeAllConnections();
      host.close();
      sandbox.close();
    },
  };
}

async function forward(request, response, { url, token }) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  const headers = Object.fromEntries(Object.entries(request.headers)
    .filter(([name]) => !["host", "origin", "referer", "connection", "content-length", "accept-encoding"].includes(name)));
  const answer = await fetch(new URL(request.url, url), {
    method: request.method, headers: { ...headers, authorization: `Bearer ${token}` },
    body: request.method === "POST" ? Buffer.concat(chunks) : undefined,
  });
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
  response.end(Buffer.from(await answer.arrayBuffer()));
}

// One host page in its own browser context. `answers` fakes the server's history for one card after the other.
export async function openHost(browser, served, { scheme = "light", width = 1280, touch = false, contrast, motion, permissions = [], height = 3000, scale = 2 } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: scheme, hasTouch: touch, isMobile: touch,
    forcedColors: contrast, reducedMotion: motion, deviceScaleFactor: scale, permissions, locale: "en-GB", timezoneId: "UTC",
  });
  const page = await context.newPage();
  const trouble = { errors: [], requests: [] };
  page.on("pageerror", (error) => trouble.errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/405|Clipboard API has been blocked/.test(message.text())) trouble.errors.push(message.text());
  });
  page.on("request", (request) => {
    if (!served.origins.some((origin) => request.url().startsWith(origin))) trouble.requests.push(request.url());
  });
  await page.goto(served.url);
  const servers = [];
  await page.exposeFunction("answerFrom", (index, params) => servers[index](params));
  const call = (name, ...args) => page.evaluate(([name, args]) => window.host[name](...args), [name, args]);

  // Mounts a card; `history` is a function of a call's params that returns a tool result, or throws.
  async function mount(options = {}) {
    const { history, ...rest } = options;
    if (history) {
      servers[await call("count")] = history;
      await page.evaluate(() => { window.answerTool ??= (index, params) => window.answerFrom(index, params); });
    }
    const before = new Set(page.frames());
    const late = new Promise((_, reject) => {
      setTimeout(() => reject(new Error(`a card did not start within 20 s: ${trouble.errors.join("; ")}`)), 20000).unref();
    });
    const index = await Promise.race([call("mount", rest), late]);
    const inner = () => page.frames().find((frame) => !before.has(frame) && frame.parentFrame() && frame.parentFrame() !== page.mainFrame());
    while (!inner()) {
      await page.waitForEvent("frameattached");
    }
    const frame = inner();
    const sandbox = frame.parentFrame();
    return {
      index, frame, sandbox,
      input: (value) => call("input", index, value),
      partial: (value) => call("partial", index, value),
      result: (value) => call("result", index, value),
      cancel: (reason) => call("cancel", index, reason),
      context: (value) => call("context", index, value),
      raw: (value) => call("raw", index, value),
      ping: () => call("ping", index),
      teardown: () => call("teardown", index),
      facts: () => call("card", index),
      violations: () => sandbox.evaluate(() => window.violations),
      text: () => frame.locator("#card").innerText(),
      // Settled: the host's frame has the height of the content.
      async settle() {
        const element = await sandbox.frameElement();
        await page.waitForFunction(([frame, index]) => {
          const { heights } = window.host.card(index);
          return heights.length > 0 && frame.clientHeight === heights.at(-1);
        }, [element, index]);
        return element;
      },
      async height() {
        return frame.evaluate(() => Math.ceil(document.getElementById("card").getBoundingClientRect().height));
      },
      async picture(path) {
        const element = await sandbox.frameElement();
        return element.screenshot({ path });
      },
    };
  }
  return { page, context, trouble, mount, call, close: () => context.close() };
}

// Makes `scene(name, options, body)`: a test on a host, after which nothing may have failed or loaded. Scenes without
// options share one page, for starting one is what takes longest.
export function createScenes(test, open) {
  let shared;
  return (name, options, body) => test(name, { timeout: 120000 }, async () => {
    const own = Object.keys(options).length > 0;
    const host = own ? await open(options) : (shared ??= await open(options));
    try {
      await body(host);
      assert.deepEqual(host.trouble, { errors: [], requests: [] });
    } finally {
      host.trouble.errors.length = host.trouble.requests.length = 0;
      await (own ? host.close() : host.call("clear"));
    }
  });
}
