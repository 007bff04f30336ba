/** Returns the edit distance (insert, delete, replace, swap of neighbors), or `limit` + 1 if it exceeds `limit`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      current.push(cost);
    }
    if (Math.min(...current) > limit) return limit + 1;
    before = previous;
    previous = current;
  }
  return previous[b.length]!;
}

/**
 * Returns up to three names nearest to `wanted`: by case-insensitive edit distance, then names that contain it or that it contains. Leaves out
 * `wanted` itself.
 */
export function nearestNames(wanted: string, names: Iterable<string>): string[] {
  const target = wanted.toLowerCase().slice(0, 200);
  const limit = Math.max(2, Math.floor(target.length / 3));
  const scored: { name: string; score: number }[] = [];
  for (const name of names) {
    if (name === wanted) continue;
    const lower = name.toLowerCase().slice(0, 200);
    const distance = editDistance(target, lower, limit);
    if (distance <= limit) scored.push({ name, score: distance });
    else if (target.length > 2 && (lower.includes(target) || (lower.length > 2 && target.includes(lower))))
      scored.push({ name, score: limit + 1 });
  }
  return scored
    .toSorted((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map((entry) => entry.name);
}

/** Returns the end of a message: `; did you mean a, b or c?`, or `.` if no name is near. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const near = nearestNames(wanted, names);
  if (near.length === 0) return '.';
  const last = near.at(-1)!;
  return `; did you mean ${near.length === 1 ? last : `${near.slice(0, -1).join(', ')} or ${last}`}?`;
}
