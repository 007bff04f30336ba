import { createHash } from 'node:crypto';
import type { FetchSession, FetchSessionResult, FetchedDocument, DocumentRequest } from './fetch-session.ts';
import { FetchStatusError } from '../../platform/lib/outbound-http/fetch.ts';
import type { SkippedEntry } from '../model/source-record.ts';
import type { SourceDocument } from './source-document.ts';

/** A document that an index names. */
export type IndexEntry = {
  id: string;
  url: string;
  /** What the index says of its state (a time, a hash): while it stays the same the document is not read. Without, the server is asked each time. */
  version?: string | undefined;
};

/** How a server is asked whether it still has what it gave. */
export type Validators = Partial<Pick<FetchedDocument, 'etag' | 'lastModified'>>;

export type DocumentIndex = {
  entries: IndexEntry[];
  /** The lists that were asked for, by their address: what came, or undefined where nothing had changed. */
  lists: Record<string, FetchedDocument | undefined>;
  /** There is more to these documents than `entries`: what is known of others stays known. */
  isPart?: boolean;
  /** More is to be read than `entries`. */
  hasMore?: boolean;
};

/** What is remembered of an index: the state of each document, and the lists all of whose documents have been read. */
export type IndexCursor = { seen?: Record<string, string>; lists?: Record<string, Validators> };

const atOnce = 4;
const failuresMax = 5;
const goneMax = 100;
/** The mark of a document that its server did not have. */
const gone = 'gone';

/** Asks for a list of documents; undefined where all that it names was read and it has not changed since. */
export function fetchList(
  context: FetchSession,
  url: string,
  request: DocumentRequest,
): Promise<FetchedDocument | undefined> {
  const { lists } = (context.cursor ?? {}) as IndexCursor;
  return context.fetch(url, { ...request, ...lists?.[url] });
}

/**
 * Reads the documents of an index that are new or whose state has changed, a few at a time. An entry that cannot be read is skipped and
 * tried again by the next pull, last where the server did not have it; when the server fails several times in a row, or asks for more
 * patience than there is, the rest waits for the next slot. What is not read because of the pull's bounds is left for the next one.
 */
export async function fetchEntries(
  context: FetchSession,
  { entries, lists, isPart = false, hasMore = false }: DocumentIndex,
  accept = 'application/json, */*;q=0.1',
): Promise<FetchSessionResult & { cursor: Required<IndexCursor> }> {
  const before = (context.cursor ?? {}) as IndexCursor;
  const known = new Map(Object.entries(before.seen ?? {}));
  const keepsOthers = isPart || Object.values(lists).includes(undefined);
  const { same, open } = sortOut(entries, known, keepsOthers);
  const { read, seen, unchanged, skipped, next, isOver, first, askedMs } = await readOpen(context, {
    open,
    known,
    accept,
  });
  // What was read earlier stays known while its turn has not come.
  for (const { id } of open.slice(next)) if (known.has(id)) seen.set(id, known.get(id)!);
  if (read.size + same.size + unchanged === 0 && first !== undefined) throw first;
  const more = hasMore || next < open.length;
  const isWhole = !more && skipped.length === 0 && entries.every(({ version: mark }) => mark !== undefined);
  const came = Object.entries(lists).filter(([, list]) => list !== undefined);
  const validators = came.map(([url, list]) => [url, isWhole ? pickValidators(list!) : {}] as const);
  return {
    // In the order of the index, whichever answer came first.
    parts: open.flatMap(({ id }) => read.get(id) ?? []),
    cursor: {
      seen: Object.fromEntries([...same, ...seen]),
      lists: { ...before.lists, ...Object.fromEntries(validators) },
    },
    unchanged: same.size + unchanged,
    skipped,
    more: more && !isOver,
    retryAfterMs: askedMs,
  };
}

/** What need not be read, with its marks, and what is to be read: last what the server did not have. */
function sortOut(
  entries: IndexEntry[],
  known: Map<string, string>,
  keepsOthers: boolean,
): { same: Map<string, string>; open: IndexEntry[] } {
  const given = new Map(entries.map((entry) => [entry.id, entry]));
  const same = new Map<string, string>();
  for (const [id, mark] of known) {
    const entry = given.get(id);
    if (entry ? entry.version === mark : keepsOthers) same.set(id, mark);
  }
  const open = [...given.values()].filter(({ id }) => !same.has(id));
  const isGone = ({ id }: IndexEntry): boolean => known.get(id) === gone;
  return { same, open: [...open.filter((entry) => !isGone(entry)), ...open.filter(isGone)] };
}

type Reading = {
  read: Map<string, SourceDocument>;
  seen: Map<string, string>;
  unchanged: number;
  skipped: SkippedEntry[];
  /** The place of the first that was not tried. */
  next: number;
  isOver: boolean;
  first: unknown;
  askedMs: number | undefined;
};

async function readOpen(
  context: FetchSession,
  { open, known, accept }: { open: IndexEntry[]; known: Map<string, string>; accept: string },
): Promise<Reading> {
  const state: Reading = {
    read: new Map(),
    seen: new Map(),
    unchanged: 0,
    skipped: [],
    next: 0,
    isOver: false,
    first: undefined,
    askedMs: undefined,
  };
  let inARow = { failures: 0, gone: 0 };
  const lane = async (): Promise<void> => {
    while (!state.isOver && state.next < open.length && context.hasRoom()) {
      const { id, url, version: given } = open[state.next]!;
      state.next += 1;
      const before = known.get(id);
      try {
        const found = await context.fetch(url, { accept, ...(given === undefined ? validatorsIn(before) : {}) });
        inARow = { failures: 0, gone: 0 };
        const mark = given ?? (found ? markOf(found) : before!);
        state.seen.set(id, mark);
        if (!found || mark === before) state.unchanged += 1;
        else state.read.set(id, { name: id, url: found.url, bytes: found.bytes, isListed: true });
      } catch (error) {
        const { status, retryAfterMs } = error instanceof FetchStatusError ? error : { status: 0 };
        const isGone = status === 404 || status === 410;
        inARow[isGone ? 'gone' : 'failures'] += 1;
        const mark = isGone ? gone : before;
        if (mark !== undefined) state.seen.set(id, mark);
        state.first ??= error;
        if (status === 429) state.askedMs = retryAfterMs;
        state.skipped.push({ entry: id, reason: error instanceof Error ? error.message : String(error) });
        state.isOver ||= inARow.failures >= failuresMax || inARow.gone >= goneMax || status === 429;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return state;
}

export const pickValidators = ({ etag, lastModified }: Validators): Validators => ({ etag, lastModified });

const markOf = ({ etag, lastModified, bytes }: FetchedDocument): string =>
  etag
    ? `etag:${etag}`
    : lastModified
      ? `date:${lastModified}`
      : `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** What a mark of `markOf` says of how to ask again. */
const validatorsIn = (mark = ''): Validators =>
  mark.startsWith('etag:') ? { etag: mark.slice(5) } : mark.startsWith('date:') ? { lastModified: mark.slice(5) } : {};
