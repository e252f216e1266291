// The story that every client tells: a chain of thoughts, its history, and its end.
import assert from "node:assert/strict";

export const TOOLS = ["sequentialthinking", "get_thought_history", "delete_thought_sequence"];

/** `client` is an SDK client that is connected. */
export async function tell(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.content[0].type, "text");
    return result;
  };
  let sequenceId;
  for (const thoughtNumber of [1, 2, 3]) {
    const thought = `Step ${thoughtNumber}, 第 ${thoughtNumber} 步 🧵`;
    const result = await call("sequentialthinking", {
      thought, thoughtNumber, totalThoughts: 3, nextThoughtNeeded: thoughtNumber < 3, sequenceId,
    });
    assert.ok(!result.isError, result.content[0].text);
    assert.equal(result.structuredContent.thoughtHistoryLength, thoughtNumber);
    assert.ok(result.content[0].text.includes(thought));
    sequenceId = result.structuredContent.sequenceId;
  }
  const history = await call("get_thought_history", { sequenceId, limit: 2 });
  const { thoughts, nextCursor } = history.structuredContent;
  assert.equal(thoughts.length, 2);
  const rest = await call("get_thought_history", { sequenceId, limit: 2, cursor: nextCursor });
  assert.equal(rest.structuredContent.thoughts[0].thought, "Step 3, 第 3 步 🧵");
  const refused = await call("sequentialthinking", { thought: " ", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false });
  assert.ok(refused.isError && refused.content[0].text.startsWith("invalid_input"));
  const { resources } = await client.listResources();
  const page = await client.readResource({ uri: resources[0].uri });
  assert.ok(page.contents[0].text.startsWith("<!doctype html>"));
  const { prompts } = await client.listPrompts();
  assert.equal(prompts.length, 2);
  const resumed = await client.getPrompt({ name: "resume_thinking", arguments: { sequenceId } });
  assert.ok(resumed.messages[0].content.text.includes(sequenceId));
  const deleted = await call("delete_thought_sequence", { sequenceId, confirm: true });
  assert.equal(deleted.structuredContent.deletedThoughts, 3);
  const gone = await call("get_thought_history", { sequenceId });
  assert.ok(gone.isError && gone.content[0].text.startsWith("sequence_not_found"));
}

/** Runs one case and says so; an unexpected end is the process's. */
export async function check(name, run) {
  await run();
  console.log(`ok  ${name}`);
}
