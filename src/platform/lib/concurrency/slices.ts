import { setImmediate } from 'node:timers/promises';

const defaultSliceMs = 8;

/**
 * Starts a computation on the event loop that works in slices of a few milliseconds. Call the returned function between steps, and await what
 * it returns: the event loop then serves other requests. It returns undefined while the slice lasts. One step must not take long.
 */
export function startSlices(sliceMs = defaultSliceMs): () => Promise<void> | undefined {
  let untilMs = performance.now() + sliceMs;
  return () => (performance.now() < untilMs ? undefined : startNext());
  async function startNext(): Promise<void> {
    await setImmediate();
    untilMs = performance.now() + sliceMs;
  }
}

/** A computation in steps that take less than a few milliseconds each. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs a computation to its end without a pause. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Runs a computation in slices, between which the event loop serves other requests. */
export async function runInSlices<Result>(steps: Steps<Result>, sliceMs?: number): Promise<Result> {
  const nextSlice = startSlices(sliceMs);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    const pause = nextSlice();
    if (pause) await pause;
  }
}

/** A computation in a single step. */
export function* inOneStep<Result>(result: Result): Steps<Result> {
  yield;
  return result;
}

/** Maps items, each in a step. */
export function* mapInSteps<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Steps<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    yield;
  }
  return results;
}

/** Maps items in slices, between which the event loop serves other requests. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
  sliceMs?: number,
): Promise<Result[]> {
  return runInSlices(
    mapInSteps(items.entries(), ([index, item]) => map(item, index)),
    sliceMs,
  );
}

/** Like `mapInSlices`, but joins the lists that `map` returns. */
export async function flatMapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => readonly Result[],
  sliceMs?: number,
): Promise<Result[]> {
  return (await mapInSlices(items, map, sliceMs)).flat();
}

/** Returns the JSON of an object, with its lists serialized element by element and its long texts in pieces. */
export async function stringifyInSlices(object: Record<string, unknown>): Promise<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    members.push(`${JSON.stringify(name)}:${await stringifyValue(value)}`);
  }
  return `{${members.join(',')}}`;
}

async function stringifyValue(value: unknown): Promise<string> {
  if (Array.isArray(value))
    return `[${(await mapInSlices(value, (element) => JSON.stringify(element) ?? 'null')).join(',')}]`;
  if (typeof value !== 'string' || value.length <= pieceLength) return JSON.stringify(value);
  const pieces = await mapInSlices(splitText(value), (piece) => JSON.stringify(piece).slice(1, -1));
  return `"${pieces.join('')}"`;
}

const pieceLength = 262_144;

/** Splits a text into pieces that do not separate the halves of a surrogate pair. */
function splitText(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += pieces.at(-1)!.length) {
    const piece = text.slice(from, from + pieceLength);
    pieces.push(isHighSurrogate(piece) ? text.slice(from, from + pieceLength + 1) : piece);
  }
  return pieces;
}

const isHighSurrogate = (piece: string): boolean => (piece.charCodeAt(piece.length - 1) & 0xfc00) === 0xd800;
