import { createHash } from 'node:crypto';
import type {
  FetchSession,
  FetchSessionResult,
  FetchedDocument,
  DocumentRequest,
  SourceDocument,
} from './fetch-session.ts';
import { FetchStatusError } from '../../platform/lib/outbound-http/fetch.ts';
import type { SkippedEntry } from '../model/source-record.ts';
import { toSkipped } from './read-parts.ts';

/** A document that an index lists. */
export type IndexEntry = {
  id: string;
  url: string;
  /** The document's state in the index (a time or a hash). While it stays the same, the document is not fetched. Without it, every pull sends a conditional request. */
  version?: string | undefined;
};

/** The validators of a conditional request. */
export type Validators = Partial<Pick<FetchedDocument, 'etag' | 'lastModified'>>;

export type DocumentIndex = {
  entries: IndexEntry[];
  /** The fetched lists by address. The value is undefined if the list has not changed. */
  lists: Record<string, FetchedDocument | undefined>;
  /** Whether the source has more documents than `entries`. The versions of the others are then preserved. */
  isPart?: boolean;
  /** Whether the next pull has more entries to read. */
  hasMore?: boolean;
};

/** `seen` maps each document to its last version, `lists` maps each completely read list to its validators. */
export type IndexCursor = { seen?: Record<string, string>; lists?: Record<string, Validators> };

const concurrency = 4;
const consecutiveFailuresMax = 5;
const consecutiveMissingMax = 100;
/** The version of a document that the server did not have. */
const missing = 'gone';

/** Fetches a list of documents. Returns undefined if it has not changed since all its documents were read. */
export function fetchList(
  session: FetchSession,
  url: string,
  request: DocumentRequest,
): Promise<FetchedDocument | undefined> {
  const { lists } = (session.cursor ?? {}) as IndexCursor;
  return session.fetch(url, { ...request, ...lists?.[url] });
}

/**
 * Fetches the new and changed documents of an index, four at a time. A document that fails is skipped and tried again by the next pull,
 * after the others if it was missing. After several failures in a row or status 429, the rest waits for the next slot. The next pull also
 * fetches the documents that the bounds of this one excluded.
 */
export async function fetchEntries(
  session: FetchSession,
  { entries, lists, isPart = false, hasMore = false }: DocumentIndex,
): Promise<FetchSessionResult & { cursor: Required<IndexCursor> }> {
  const before = (session.cursor ?? {}) as IndexCursor;
  const known = new Map(Object.entries(before.seen ?? {}));
  const { same, pending } = splitEntries(entries, known, isPart || Object.values(lists).includes(undefined));
  const { documents, seen, unchanged, skipped, next, isStopped, firstError, retryAfterMs } = await fetchPending(
    session,
    pending,
    known,
  );
  for (const { id } of pending.slice(next)) if (known.has(id)) seen.set(id, known.get(id)!);
  if (documents.size + same.size + unchanged === 0 && firstError !== undefined) throw firstError;
  const more = hasMore || next < pending.length;
  const isComplete = !more && skipped.length === 0 && entries.every(({ version }) => version !== undefined);
  const validators = Object.entries(lists).flatMap(([url, list]) =>
    list ? [[url, isComplete ? pickValidators(list) : {}] as const] : [],
  );
  return {
    // In the order of the index, not of the responses.
    parts: pending.flatMap(({ id }) => documents.get(id) ?? []),
    cursor: {
      seen: Object.fromEntries([...same, ...seen]),
      lists: { ...before.lists, ...Object.fromEntries(validators) },
    },
    unchanged: same.size + unchanged,
    skipped,
    more: more && !isStopped,
    retryAfterMs,
  };
}

/** Separates unchanged documents from those to fetch. Documents that were missing before come last. */
function splitEntries(
  entries: IndexEntry[],
  known: Map<string, string>,
  keepsOthers: boolean,
): { same: Map<string, string>; pending: IndexEntry[] } {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const same = new Map<string, string>();
  for (const [id, version] of known) {
    const entry = byId.get(id);
    if (entry ? entry.version === version : keepsOthers) same.set(id, version);
  }
  const pending = [...byId.values()].filter(({ id }) => !same.has(id));
  const wasMissing = ({ id }: IndexEntry): boolean => known.get(id) === missing;
  return { same, pending: [...pending.filter((entry) => !wasMissing(entry)), ...pending.filter(wasMissing)] };
}

type FetchProgress = {
  documents: Map<string, SourceDocument>;
  seen: Map<string, string>;
  unchanged: number;
  skipped: SkippedEntry[];
  /** The index of the first entry that was not tried. */
  next: number;
  isStopped: boolean;
  firstError?: unknown;
  retryAfterMs?: number | undefined;
};

async function fetchPending(
  session: FetchSession,
  pending: IndexEntry[],
  known: Map<string, string>,
): Promise<FetchProgress> {
  const progress: FetchProgress = {
    documents: new Map(),
    seen: new Map(),
    unchanged: 0,
    skipped: [],
    next: 0,
    isStopped: false,
  };
  let consecutive = { failures: 0, missing: 0 };
  const runLane = async (): Promise<void> => {
    while (!progress.isStopped && progress.next < pending.length && session.hasRoom()) {
      const { id, url, version: listed } = pending[progress.next]!;
      progress.next += 1;
      const before = known.get(id);
      try {
        const validators = listed === undefined ? toValidators(before) : {};
        const fetched = await session.fetch(url, { accept: 'application/json, */*;q=0.1', ...validators });
        consecutive = { failures: 0, missing: 0 };
        const version = listed ?? (fetched ? toVersion(fetched) : before!);
        progress.seen.set(id, version);
        if (!fetched || version === before) progress.unchanged += 1;
        else progress.documents.set(id, { name: id, url: fetched.url, bytes: fetched.bytes, isListed: true });
      } catch (error) {
        const { status, retryAfterMs } = error instanceof FetchStatusError ? error : { status: 0 };
        const isMissing = status === 404 || status === 410;
        consecutive[isMissing ? 'missing' : 'failures'] += 1;
        const version = isMissing ? missing : before;
        if (version !== undefined) progress.seen.set(id, version);
        progress.firstError ??= error;
        if (status === 429) progress.retryAfterMs = retryAfterMs;
        progress.skipped.push(toSkipped(id, error));
        progress.isStopped ||=
          status === 429 ||
          consecutive.failures >= consecutiveFailuresMax ||
          consecutive.missing >= consecutiveMissingMax;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runLane));
  return progress;
}

export const pickValidators = ({ etag, lastModified }: Validators): Validators => ({ etag, lastModified });

function toVersion({ etag, lastModified, bytes }: FetchedDocument): string {
  if (etag) return `etag:${etag}`;
  return lastModified ? `date:${lastModified}` : `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Returns the validators that a version of `toVersion` contains. */
function toValidators(version = ''): Validators {
  if (version.startsWith('etag:')) return { etag: version.slice(5) };
  return version.startsWith('date:') ? { lastModified: version.slice(5) } : {};
}
