import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** One step of a sequence. `time` is in epoch milliseconds, with the microseconds as their fraction. `id` is unique. */
export type SequenceStep = { step: number; time: number; id: string };

/** The number of steps, and the longest time from the first to the last of them. */
export type SequenceShape = { length: number; spanMs: number };

type Chain<S extends SequenceStep> = S[];

/**
 * Finds completed sequences: rows of steps 1, 2, … `length`, ordered by time (then step, then ID), within `spanMs`. A row extends the chain
 * that began last. Older chains therefore never take rows from newer ones, and the result does not depend on how much history is read.
 * The rows of a completed sequence are consumed. `rest` contains the others.
 */
export function findSequences<S extends SequenceStep>(
  rows: readonly S[],
  { length, spanMs }: SequenceShape,
): { chains: Chain<S>[]; rest: S[] } {
  const open: Chain<S>[][] = Array.from({ length: length + 1 }, () => []);
  const chains: Chain<S>[] = [];
  for (const row of rows.toSorted(compareSteps)) {
    if (row.step > length) continue;
    const chain = row.step === 1 ? [] : takeNewest(open[row.step - 1]!, row.time - spanMs);
    if (!chain) continue;
    chain.push(row);
    if (row.step === length) chains.push(chain);
    else push(open[row.step]!, chain);
  }
  const consumed = new Set(chains.flat());
  return { chains, rest: rows.filter((row) => !consumed.has(row)) };
}

export function compareSteps(a: SequenceStep, b: SequenceStep): number {
  return a.time - b.time || a.step - b.step || compareCodeUnits(a.id, b.id);
}

/** Removes and returns the open chain that began last. If it began before `since`, all did, and the heap is cleared. */
function takeNewest<S extends SequenceStep>(heap: Chain<S>[], since: number): Chain<S> | undefined {
  const newest = heap[0];
  if (!newest) return undefined;
  if (newest[0]!.time < since) {
    heap.length = 0;
    return undefined;
  }
  const last = heap.pop()!;
  if (heap.length > 0) {
    heap[0] = last;
    sink(heap);
  }
  return newest;
}

function isNewer(a: Chain<SequenceStep>, b: Chain<SequenceStep>): boolean {
  return compareSteps(a[0]!, b[0]!) > 0;
}

/** Adds a chain to the heap. A heap, because one window may have 100,000 open chains. */
function push<S extends SequenceStep>(heap: Chain<S>[], chain: Chain<S>): void {
  let at = heap.push(chain) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isNewer(heap[at]!, heap[parent]!)) return;
    [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
    at = parent;
  }
}

function sink(heap: Chain<SequenceStep>[]): void {
  let at = 0;
  for (;;) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    let top = at;
    if (left < heap.length && isNewer(heap[left]!, heap[top]!)) top = left;
    if (right < heap.length && isNewer(heap[right]!, heap[top]!)) top = right;
    if (top === at) return;
    [heap[at], heap[top]] = [heap[top]!, heap[at]!];
    at = top;
  }
}
