/** A part of a text, from `start` up to `end`, that belongs to the subject `key`. */
export type Mark = { key: string; start: number; end: number };

/** A piece of a text between two borders of marks. `keys` are the subjects that contain it. */
export type Segment = { text: string; start: number; keys: string[] };

const mentionsMax = 50;

/**
 * Finds where a text mentions a value, which may be defanged there: `evil[.]example`, `hxxps://`. Parts of longer words do not count.
 * Returns at most 50 mentions.
 */
export function findMentions(text: string, key: string, value: string): Mark[] {
  if (value.length < 3 || value.length > 500) return [];
  const pattern = value
    .replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
    .replace(/^http/i, 'h(?:tt|xx)p')
    .replace(/:(?=\\\/)/, '(?::|\\[:\\])')
    .replace(/\\\./g, '(?:\\.|\\[\\.\\]|\\(\\.\\)|\\[dot\\])');
  const mentions: Mark[] = [];
  for (const match of text.matchAll(new RegExp(`(?<!\\w)${pattern}(?!\\w)`, 'gi'))) {
    mentions.push({ key, start: match.index, end: match.index + match[0].length });
    if (mentions.length >= mentionsMax) break;
  }
  return mentions;
}

/** Cuts a text at the borders of its marks, which may overlap. The segments together are the text. */
export function cutSegments(text: string, marks: readonly Mark[]): Segment[] {
  const inside = marks.filter(({ start, end }) => start >= 0 && start < end && end <= text.length);
  const borders = [...new Set([0, text.length, ...inside.flatMap(({ start, end }) => [start, end])])].toSorted(
    (a, b) => a - b,
  );
  const starting = new Map<number, Mark[]>();
  for (const mark of inside) starting.set(mark.start, [...(starting.get(mark.start) ?? []), mark]);
  let open: Mark[] = [];
  return borders.slice(0, -1).map((start, index) => {
    open = [...open.filter(({ end }) => end > start), ...(starting.get(start) ?? [])];
    return { text: text.slice(start, borders[index + 1]), start, keys: [...new Set(open.map(({ key }) => key))] };
  });
}
