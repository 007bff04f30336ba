import { diffLines } from 'diff';
import type { LineDiff } from './history.schema.ts';

type LineOperation = LineDiff['lines'][number]['op'];

// Comparing two long texts with nothing in common would block the process. After this time the diff shows them as one removed and one added text.
const timeMsMax = 200;

/** Returns the line-by-line difference between two texts. */
export function diffTexts(from: string, to: string): LineDiff {
  const changes = diffLines(from, to, { timeout: timeMsMax }) ?? [
    { value: from, removed: true, added: false },
    { value: to, removed: false, added: true },
  ];
  const lines = changes.flatMap(({ value, added, removed }) =>
    splitLines(value).map((text) => ({ op: toOperation(added, removed), text })),
  );
  const count = (op: LineOperation): number => lines.filter((line) => line.op === op).length;
  return { added: count('added'), removed: count('removed'), lines };
}

function toOperation(isAdded: boolean, isRemoved: boolean): LineOperation {
  if (isAdded) return 'added';
  return isRemoved ? 'removed' : 'same';
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
