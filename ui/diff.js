// The difference of two texts, word by word.

const WORDS_MAX = 1200;
const SIMILAR = 0.55;
// Words keep what joins their parts (6.4, n+1, don't); scripts without spaces go character by character.
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}_]+(?:[.,:'’+\/-][\p{L}\p{N}\p{M}_]+)*|\s+|\S/gu;

// Runs `{ kind: "same" | "old" | "new", text }`, or nothing when the texts are too different to be read as one.
export function diffWords(before, after) {
  const a = before.match(WORD) ?? [];
  const b = after.match(WORD) ?? [];
  if (a.length > WORDS_MAX || b.length > WORDS_MAX) {
    return undefined;
  }
  const runs = joinRuns(align(a, b));
  const weigh = (text) => text.replace(/\s/g, "").length;
  const same = runs.reduce((sum, { kind, text }) => sum + (kind === "same" ? weigh(text) : 0), 0);
  return same < SIMILAR * Math.max(weigh(before), weigh(after)) ? undefined : runs;
}

// Longest common subsequence by the plain table. Returns pairs of kind and word.
function align(a, b) {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      table[at] = a[i] === b[j] ? table[at + width + 1] + 1 : Math.max(table[at + width], table[at + 1]);
    }
  }
  const words = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const at = i * width + j;
    if (a[i] === b[j]) {
      words.push(["same", a[i++]]);
      j++;
    } else if (j === b.length || (i < a.length && table[at + width] >= table[at + 1])) {
      words.push(["old", a[i++]]);
    } else {
      words.push(["new", b[j++]]);
    }
  }
  return words;
}

// Joins neighbours. White space between two changes belongs to both, so that a changed phrase stays whole.
function joinRuns(words) {
  const runs = [];
  let old = "";
  let fresh = "";
  const push = (kind, text) => {
    if (text && runs.at(-1)?.kind === kind) {
      runs.at(-1).text += text;
    } else if (text) {
      runs.push({ kind, text });
    }
  };
  words.forEach(([kind, word], index) => {
    const joins = kind === "same" && !word.trim() && (old || fresh) && words[index + 1] && words[index + 1][0] !== "same";
    if (kind === "old" || joins) {
      old += word;
    }
    if (kind === "new" || joins) {
      fresh += word;
    }
    if (kind === "same" && !joins) {
      push("old", old);
      push("new", fresh);
      push("same", word);
      old = fresh = "";
    }
  });
  push("old", old);
  push("new", fresh);
  return runs;
}
