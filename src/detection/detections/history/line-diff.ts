import { diffLines } from 'diff';
import type { LineDiff } from './history.schema.ts';

// Two long texts with nothing in common would hold up the process; they are shown as one removed and one added.
const timeMsMax = 200;

/** How two texts differ, line by line. */
export function lineDiffOf(from: string, to: string): LineDiff {
  const changes = diffLines(from, to, { timeout: timeMsMax }) ?? [
    { value: from, removed: true, added: false },
    { value: to, removed: false, added: true },
  ];
  const lines = changes.flatMap(({ value, added, removed }) =>
    linesOf(value).map((text) => ({
      op: added ? ('added' as const) : removed ? ('removed' as const) : ('same' as const),
      text,
    })),
  );
  const count = (op: LineDiff['lines'][number]['op']): number => lines.filter((line) => line.op === op).length;
  return { added: count('added'), removed: count('removed'), lines };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
