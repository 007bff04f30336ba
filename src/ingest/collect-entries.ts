import { createHash } from 'node:crypto';
import type { CollectContext, Collection } from './collect.ts';
import { FetchStatusError } from '../lib/fetch.ts';
import type { Part, Skipped } from './record.ts';

/** A document that an index names. */
export type Entry = {
  id: string;
  url: string;
  /** What the index says of its state (a time, a hash): while it stays the same the document is not read. Without, the server is asked each time. */
  mark?: string | undefined;
};

const atOnce = 4;
const failuresMax = 5;

/**
 * Reads the documents of an index that are new or whose state has changed, a few at a time. An entry that cannot be read is skipped and
 * tried again by the next pull; after several in a row, or when the server asks for more patience than there is, the rest waits. What is
 * not read because of the pull's bounds is left for the next one.
 */
export async function collectEntries(
  context: CollectContext,
  entries: Entry[],
  accept = 'application/json, */*;q=0.1',
): Promise<Collection> {
  const known = seenOf(context.cursor);
  const seen = new Map<string, string>();
  const read = new Map<string, Part>();
  const skipped: Skipped[] = [];
  const open: Entry[] = [];
  let [unchanged, failures, first] = [0, 0, undefined as unknown];
  let isOver = false;
  for (const entry of new Map(entries.map((entry) => [entry.id, entry])).values()) {
    const mark = known.get(entry.id);
    if (mark !== undefined && mark === entry.mark) {
      seen.set(entry.id, mark);
      unchanged += 1;
    } else open.push(entry);
  }
  let next = 0;
  const lane = async (): Promise<void> => {
    while (!isOver && next < open.length && context.hasRoom()) {
      const entry = open[next]!;
      next += 1;
      const before = known.get(entry.id);
      try {
        const found = await context.fetch(entry.url, {
          accept,
          etag: entry.mark === undefined && before?.startsWith('etag:') ? before.slice(5) : undefined,
        });
        failures = 0;
        const mark = entry.mark ?? (found ? markOf(found) : before!);
        seen.set(entry.id, mark);
        if (!found || mark === before) unchanged += 1;
        else read.set(entry.id, { name: entry.id, url: found.url, bytes: found.bytes });
      } catch (error) {
        if (before !== undefined) seen.set(entry.id, before);
        first ??= error;
        failures += 1;
        skipped.push({ entry: entry.id, reason: error instanceof Error ? error.message : String(error) });
        isOver ||= failures >= failuresMax || (error instanceof FetchStatusError && error.status === 429);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  // What was read earlier stays known while its turn has not come.
  for (const { id } of open.slice(next)) if (known.has(id)) seen.set(id, known.get(id)!);
  if (read.size + unchanged === 0 && first !== undefined) throw first;
  return {
    // In the order of the index, whichever answer came first.
    parts: open.flatMap(({ id }) => read.get(id) ?? []),
    cursor: { seen: Object.fromEntries(seen) },
    unchanged,
    skipped,
    more: next < open.length,
  };
}

function seenOf(cursor: unknown): Map<string, string> {
  const { seen } = (cursor ?? {}) as { seen?: Record<string, string> };
  return new Map(Object.entries(seen ?? {}));
}

const markOf = ({ etag, bytes }: { etag: string | undefined; bytes: Buffer }): string =>
  etag ? `etag:${etag}` : `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
