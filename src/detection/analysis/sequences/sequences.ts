import { dayMs } from '../analysis-definition.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** A row that is one step of a sequence; `time` in epoch milliseconds, `id` unique. */
export type Step = { step: number; time: number; id: string };

type Chain<S extends Step> = S[];

/**
 * Finds completed sequences: rows of steps 1, 2, … `length` in the order of time (then step, then id), within 24 hours from the
 * first to the last. A row goes on with the chain that began last, so that older chains never take from newer ones: what is
 * found does not depend on how much older history is looked at. Rows of a completed sequence are consumed, `rest` are the others.
 */
export function completeSequences<S extends Step>(
  rows: readonly S[],
  length: number,
): { chains: Chain<S>[]; rest: S[] } {
  const open: Chain<S>[][] = Array.from({ length: length + 1 }, () => []);
  const chains: Chain<S>[] = [];
  for (const row of rows.toSorted(compareSteps)) {
    if (row.step > length) continue;
    const chain = row.step === 1 ? [] : takeNewest(open[row.step - 1]!, row.time);
    if (!chain) continue;
    chain.push(row);
    if (row.step === length) chains.push(chain);
    else push(open[row.step]!, chain);
  }
  const used = new Set(chains.flat());
  return { chains, rest: rows.filter((row) => !used.has(row)) };
}

export function compareSteps(a: Step, b: Step): number {
  return a.time - b.time || a.step - b.step || compareCodeUnits(a.id, b.id);
}

/** The open chain that began last, if it is still within its 24 hours; if that one is not, none is. */
function takeNewest<S extends Step>(heap: Chain<S>[], time: number): Chain<S> | undefined {
  const newest = heap[0];
  if (!newest) return undefined;
  if (time - newest[0]!.time > dayMs) {
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

function isNewer(a: Chain<Step>, b: Chain<Step>): boolean {
  return compareSteps(a[0]!, b[0]!) > 0;
}

// A heap, since one window may hold 100,000 open chains.
function push<S extends Step>(heap: Chain<S>[], chain: Chain<S>): void {
  let at = heap.push(chain) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isNewer(heap[at]!, heap[parent]!)) return;
    [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
    at = parent;
  }
}

function sink(heap: Chain<Step>[]): void {
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
