import { setImmediate } from 'node:timers/promises';

const sliceMs = 8;

/**
 * Maps items in slices of a few milliseconds, between which the event loop serves other requests. For computations over many items on the event
 * loop; one item must not take long.
 */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let untilMs = performance.now() + sliceMs;
  for (const [index, item] of items.entries()) {
    results.push(map(item, index));
    if (performance.now() < untilMs) continue;
    await setImmediate();
    untilMs = performance.now() + sliceMs;
  }
  return results;
}

/** Like `mapInSlices`, but joins the lists that `map` returns. */
export async function flatMapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => readonly Result[],
): Promise<Result[]> {
  return (await mapInSlices(items, map)).flat();
}

/** Returns the JSON of an object, with its lists serialized element by element in slices. */
export async function stringifyInSlices(object: Record<string, unknown>): Promise<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const text = Array.isArray(value)
      ? `[${(await mapInSlices(value, (element) => JSON.stringify(element) ?? 'null')).join(',')}]`
      : JSON.stringify(value);
    members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
