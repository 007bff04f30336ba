import type { IncomingHttpHeaders } from 'node:http';
import { fetchBytes, FetchStatusError } from '../../platform/lib/outbound-http/fetch.ts';
import type { SkippedEntry } from '../model/source-record.ts';
import type { SourceDocument } from './source-document.ts';

/** A document that was fetched. */
export type FetchedDocument = {
  bytes: Buffer;
  /** Where it came from, after redirects. */
  url: string;
  contentType: string | undefined;
  etag: string | undefined;
  lastModified: string | undefined;
  headers: IncomingHttpHeaders;
};

/** What a format reads of a document on the way. */
export type DigestInput = Pick<FetchedDocument, 'bytes' | 'url' | 'contentType'>;

export type DocumentRequest = {
  accept?: string;
  headers?: Record<string, string>;
  /** Validators of what is held already: the answer may then be undefined, nothing new. */
  etag?: string | undefined;
  lastModified?: string | undefined;
  bytesMax?: number;
  /** Takes the document piece by piece instead of its being held, and bounds it: at false the rest is not fetched. */
  onChunk?: (piece: Buffer) => boolean;
};

/** What a format may do to read a source of several documents: it asks for addresses and sees neither database nor settings. */
export type FetchSession = {
  url: string;
  /** What the last good pull left; undefined on the first one, and when everything is to be read again. Was JSON in between. */
  cursor: unknown;
  now: Date;
  /** Whether the source has a credential, which some servers let ask more often. */
  hasCredential: boolean;
  /** GET within the bounds of the pull; waits and asks again where the server asks for patience. Throws an Error that may be shown. */
  fetch: (url: string, request?: DocumentRequest) => Promise<FetchedDocument | undefined>;
  /** What the format's own `digest` makes of documents; large ones are read in a thread. */
  digest: (documents: DigestInput[]) => Promise<unknown>;
  /** Whether the bounds of this pull (documents, bytes, time) leave room for another document. */
  hasRoom: () => boolean;
  pause: (ms: number) => Promise<void>;
};

/** What one pull read. `cursor` is JSON and is kept only together with the items. */
export type FetchSessionResult = {
  parts: SourceDocument[];
  cursor: unknown;
  /** The cursor without these records, so that the next pull reads them again. */
  cursorWithout?: (recordIds: string[]) => unknown;
  /** Entries that were not read because what is known of them has not changed. */
  unchanged: number;
  skipped: SkippedEntry[];
  /** The bounds left something unread: the next pull comes soon and goes on. */
  more: boolean;
  /** How long a server asked to be left alone, in milliseconds. */
  retryAfterMs?: number | undefined;
};

export type FetchBounds = { documentsMax: number; bytesMax: number; timeMaxMs: number };

// A lease is ten minutes; parsing and writing need their share of it.
const usual: FetchBounds = { documentsMax: 1_000, bytesMax: 128 * 1024 * 1024, timeMaxMs: 240_000 };
const triesMax = 4;
const patienceMs = 60_000;
const longMs = 180_000;

/** A context over the bounded fetch of public addresses. `headers` go to the origin of the source alone. */
export function createFetchSession(given: {
  url: string;
  cursor: unknown;
  now: Date;
  allow: readonly string[];
  digest: (documents: DigestInput[]) => Promise<unknown>;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  bounds?: Partial<FetchBounds>;
}): FetchSession {
  const { url, cursor, now, allow, signal } = given;
  const digest = (documents: DigestInput[]): Promise<unknown> =>
    given.digest(documents.map(({ bytes, url: from, contentType }) => ({ bytes, url: from, contentType })));
  const bounds = { ...usual, ...given.bounds };
  const origin = new URL(url).origin;
  const began = performance.now();
  const leftMs = (): number => bounds.timeMaxMs - (performance.now() - began);
  let [documents, bytes] = [0, 0];
  const hasRoom = (): boolean => documents < bounds.documentsMax && bytes < bounds.bytesMax && leftMs() > 0;
  const pause = async (ms: number): Promise<void> => wait(Math.max(0, Math.min(ms, leftMs())), signal);
  const fetch = async (address: string, request: DocumentRequest = {}): Promise<FetchedDocument | undefined> => {
    const { onChunk: take } = request;
    const counted = (piece: Buffer): boolean => {
      bytes += piece.length;
      return take!(piece);
    };
    if (!URL.canParse(address)) throw new Error('an address in the document is none');
    const own = new URL(address).origin === origin ? given.headers : {};
    for (let tries = 1; ; tries += 1) {
      if (!hasRoom()) throw new Error('the bounds of one pull are reached');
      documents += 1;
      try {
        const fetched = await fetchBytes({
          ...request,
          url: address,
          headers: { ...request.headers, ...own },
          allow,
          signal,
          timeoutMs: Math.max(1, Math.min(take ? longMs : 60_000, leftMs())),
          onChunk: take && counted,
        });
        if (fetched.kind === 'not-modified') return undefined;
        bytes += fetched.bytes.length;
        return fetched;
      } catch (error) {
        const waitMs = patienceFor(error, tries);
        if (waitMs === undefined || waitMs > leftMs()) throw error;
        await pause(waitMs);
      }
    }
  };
  return { url, cursor, now, hasCredential: given.headers !== undefined, fetch, digest, hasRoom, pause };
}

/** How long to wait before asking again; undefined where asking again is no use. */
function patienceFor(error: unknown, tries: number): number | undefined {
  if (!(error instanceof FetchStatusError) || ![429, 503].includes(error.status) || tries >= triesMax) return undefined;
  const waitMs = error.retryAfterMs ?? 1_000 * 4 ** (tries - 1);
  return waitMs > patienceMs ? undefined : waitMs;
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new Error('aborted'));
    const timer = setTimeout(done, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Error('aborted'));
    };
    function done(): void {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
    signal?.addEventListener('abort', stop, { once: true });
  });
}
