// A GitHub and somebody with an account there, for tests that are written in Rust: each line of standard input is a link
// with options, each line of standard output the address that its client gets. Ends with its input.

import { createInterface } from "node:readline";
import { consent } from "./consent.mjs";
import { serveGitHub } from "./github.mjs";

const github = await serveGitHub();
github.mode = "passes";
console.log(JSON.stringify({ github: github.url }));
for await (const line of createInterface({ input: process.stdin })) {
  const { link, ...options } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ address: String(await consent(link, options)), requests: github.requests }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error.stack) }));
  }
}
github.close();
