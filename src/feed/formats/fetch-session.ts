import { setTimeout } from 'node:timers/promises';
import {
  fetchBytes,
  FetchStatusError,
  type FetchRequest,
  type FetchResult,
} from '../../platform/lib/outbound-http/fetch.ts';
import type { SkippedEntry } from '../model/source-record.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';

/** One document of a source. */
export type SourceDocument = {
  name: string;
  bytes: Buffer;
  /** The address it was fetched from, if that is not the source's own address. */
  url?: string;
  contentType?: string | undefined;
  /** When the document last changed, as ISO text, if its server reports that. */
  modified?: string | undefined;
  /** Set for a document that an index lists. If it cannot be parsed it is skipped, even when it is the only document of the pull. */
  isListed?: true;
  /** The entry of the index for the document, passed from the format's `fetch` to its `parse`. */
  entry?: unknown;
};

export type FetchedDocument = Extract<FetchResult, { kind: 'fetched' }>;

/** The part of a fetched document that a format's `digest` receives. */
export type DigestInput = Pick<FetchedDocument, 'bytes' | 'url' | 'contentType'>;

export type DocumentRequest = Pick<FetchRequest, 'accept' | 'etag' | 'lastModified' | 'bytesMax' | 'onChunk'>;

/** The functions with which a format fetches a source of several documents. It has no access to the database or to settings. */
export type FetchSession = {
  url: string;
  /** The `cursor` of the last good pull after a JSON round trip. Undefined for the first pull and for one that reads everything again. */
  cursor: unknown;
  now: Date;
  /** Whether the source has a credential. Some servers then allow more requests. */
  hasCredential: boolean;
  /**
   * Sends a GET request within the bounds of the pull and retries if the server asks to. Returns undefined if a conditional request found
   * no change. Throws an Error whose message is safe to show.
   */
  fetch: (url: string, request?: DocumentRequest) => Promise<FetchedDocument | undefined>;
  /** Runs the format's own `digest`, for large documents in a thread. */
  digest: (documents: DigestInput[]) => Promise<unknown>;
  /** Returns whether the bounds of this pull (documents, bytes, time) allow another document. */
  hasRoom: () => boolean;
  pause: (ms: number) => Promise<void>;
};

/** The result of one pull. `cursor` is JSON and is stored only together with the items. */
export type FetchSessionResult = {
  parts: SourceDocument[];
  cursor: unknown;
  /** Returns the cursor without these records, so that the next pull reads them again. */
  cursorWithout?: (recordIds: string[]) => unknown;
  /** The number of entries that were not fetched because they have not changed. */
  unchanged: number;
  skipped: SkippedEntry[];
  /** Whether the bounds left documents unread. The next pull then follows soon and continues. */
  more: boolean;
  /** The delay that a server asked for. */
  retryAfterMs?: number | undefined;
};

export type FetchBounds = { documentsMax: number; bytesMax: number; timeMaxMs: number };

// A step of a pull ends after ten minutes, and parsing needs its share of them.
const defaultBounds: FetchBounds = { documentsMax: 1_000, bytesMax: 128 * 1024 * 1024, timeMaxMs: 240_000 };
const triesMax = 4;
const retryAfterMaxMs = 60_000;
const requestTimeoutMs = 60_000;
const streamTimeoutMs = 180_000;
/** A single document may have this size even if the pull has a lower bound. */
const documentBytesMin = 32 * 1024 * 1024;

type FetchSessionOptions = Pick<FetchSession, 'url' | 'cursor' | 'now' | 'digest'> &
  Pick<FetchRequest, 'allow' | 'headers' | 'signal'> & { bounds?: Partial<FetchBounds> | undefined };

/** Creates the session of one pull. `headers` are sent to the origin of the source only. */
export function createFetchSession(options: FetchSessionOptions): FetchSession {
  const { url, cursor, now, allow, headers, signal } = options;
  const bounds = { ...defaultBounds, ...options.bounds };
  const { origin } = new URL(url);
  const startedAt = performance.now();
  let [documents, bytes] = [0, 0];
  // Timers need an integer.
  const remainingMs = (): number => Math.ceil(bounds.timeMaxMs - (performance.now() - startedAt));
  const hasRoom = (): boolean => documents < bounds.documentsMax && bytes < bounds.bytesMax && remainingMs() > 0;
  const pause = async (ms: number): Promise<void> => {
    await setTimeout(Math.max(0, Math.min(ms, remainingMs())), undefined, { signal });
  };
  const fetch = async (address: string, request: DocumentRequest = {}): Promise<FetchedDocument | undefined> => {
    const { onChunk } = request;
    if (!URL.canParse(address)) throw new ExternalError('the document contains an invalid address');
    for (let tries = 1; ; tries += 1) {
      if (!hasRoom()) throw new ExternalError('the bounds of one pull are reached');
      documents += 1;
      try {
        const fetched = await fetchBytes({
          bytesMax: Math.max(bounds.bytesMax, documentBytesMin),
          ...request,
          url: address,
          headers: new URL(address).origin === origin ? headers : undefined,
          allow,
          signal,
          timeoutMs: Math.max(1, Math.min(onChunk ? streamTimeoutMs : requestTimeoutMs, remainingMs())),
          onChunk:
            onChunk &&
            ((chunk) => {
              bytes += chunk.length;
              return onChunk(chunk);
            }),
        });
        if (fetched.kind === 'not-modified') return undefined;
        bytes += fetched.bytes.length;
        return fetched;
      } catch (error) {
        const delayMs = retryDelayMs(error, tries);
        if (delayMs === undefined || delayMs > remainingMs()) throw error;
        await pause(delayMs);
      }
    }
  };
  // Only what `digest` needs is copied to a thread.
  const digest = (inputs: DigestInput[]): Promise<unknown> =>
    options.digest(
      inputs.map(({ bytes: content, url: from, contentType }) => ({ bytes: content, url: from, contentType })),
    );
  return { url, cursor, now, hasCredential: headers !== undefined, fetch, digest, hasRoom, pause };
}

/** Returns the delay before the next try, or undefined if a retry is pointless. */
function retryDelayMs(error: unknown, tries: number): number | undefined {
  if (!(error instanceof FetchStatusError) || ![429, 503].includes(error.status) || tries >= triesMax) return undefined;
  const delayMs = error.retryAfterMs ?? 1_000 * 4 ** (tries - 1);
  return delayMs > retryAfterMaxMs ? undefined : delayMs;
}
