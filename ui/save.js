// Hands a text to the person: through the clipboard, or as a file where the clipboard is closed.

// `download` asks the host to save the text, or is missing. Resolves with what happened.
export async function handOut(text, download) {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    // Frames without the permission still may copy a selection.
  }
  if (copySelection(text)) {
    return "Copied";
  }
  if (!download) {
    return "Copying is not allowed here";
  }
  try {
    const answer = await download(text);
    return answer?.isError ? "Not saved" : "Saved";
  } catch {
    return "Not saved";
  }
}

function copySelection(text) {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "vh";
  area.setAttribute("aria-hidden", "true");
  document.body.append(area);
  area.select();
  let copied = false;
  try {
    copied = document.execCommand("copy");
  } catch {
    copied = false;
  }
  area.remove();
  focused?.focus?.();
  return copied;
}
