// Which steps stay visible when a process is too long for its place.

// Returns the steps to show, in order, within `budget` pixels. A run of hidden steps costs `gap` pixels.
export function chooseSteps(steps, budget, row, gap) {
  if (steps.length * row <= budget) {
    return new Set(steps);
  }
  const last = steps.length - 1;
  const shown = new Uint8Array(steps.length);
  const cost = () => {
    let pixels = 0;
    for (let index = 0; index <= last; index++) {
      pixels += shown[index] ? row : index === 0 || shown[index - 1] ? gap : 0;
    }
    return pixels;
  };
  for (const step of rankSteps(steps)) {
    shown[step.index] = 1;
    if (!step.concludes && cost() > budget) {
      shown[step.index] = 0;
    }
  }
  return new Set(steps.filter((step) => shown[step.index]));
}

// The conclusion and the beginning first, then forks and corrections, then the newest of the path.
function rankSteps(steps) {
  const rank = (step) => {
    if (step.concludes) return 0;
    if (step.index === 0) return 1;
    if (step.opens) return 2;
    if (step.revisionOf || step.revisedBy) return 3;
    if (step.summarizes || step.forks.length || step.hangs) return 4;
    return step.onPath ? 5 : 6;
  };
  // Few rows are ever shown, so only the first of each rank matter.
  return steps.map((step) => [rank(step), -step.index, step])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, 120).map((entry) => entry[2]);
}
