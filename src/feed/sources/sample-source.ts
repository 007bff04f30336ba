import { sourceFormats, type SourceKind } from '../formats/registry.ts';
import type { ParseResult, SourceFormat } from '../formats/source-format.ts';
import type { SkippedEntry } from '../model/source-record.ts';
import { fetchDocuments } from './documents/fetch-documents.ts';
import type { Parser } from './documents/parser.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import { isPoolBusy, ThreadError } from '../../platform/lib/threads/thread-protocol.ts';
import type { SourceTest } from './sources.schema.ts';

export type TestedSource = {
  kind: SourceKind;
  url: string;
  fileAllowed: boolean;
  /** The request headers of the credential. */
  headers: Record<string, string> | undefined;
};

export type SourceSample = Omit<SourceTest, 'kind' | 'url'>;

type SampleSourceOptions = {
  parser: Parser;
  settings: { fetchAllow: string[]; fileSources: string[] };
  now: Date;
};

const bounds = { documentsMax: 8, bytesMax: 32 * 1024 * 1024, timeMaxMs: 20_000 };
const samplesMax = 5;
const skippedMax = 20;
const textMaxChars = 300;

/**
 * Fetches the first documents of a source and parses them like a pull, without extracting texts. Of a feed of articles it reads the feed
 * alone, not the pages. Returns the reason in `error` if the source cannot be read.
 */
export async function sampleSource(
  { parser, settings, now }: SampleSourceOptions,
  { kind, url, fileAllowed, headers }: TestedSource,
): Promise<SourceSample> {
  const format: SourceFormat = sourceFormats[kind];
  const { fetch: _fetch, ...singleDocument } = format;
  try {
    const fetched = await fetchDocuments(
      { url, etag: null, last_modified: null, file_allowed: fileAllowed },
      {
        format: format.isText ? singleDocument : format,
        settings,
        headers,
        collected: undefined,
        now,
        digest: (documents) => parser.digest({ kind, documents }),
        bounds,
      },
    );
    if (fetched.kind === 'not-modified') return failedSample('the server responded with status 304');
    const { reliability } = format.defaults;
    const { parts } = fetched;
    const parsed: ParseResult =
      parts.length === 0 ? { records: [], skipped: [] } : await parser.parse({ kind, parts, context: { reliability } });
    const collection = fetched.kind === 'collected' ? fetched.collection : { skipped: [], more: false };
    return toSample(parsed, collection);
  } catch (error) {
    if (error instanceof ExternalError || (error instanceof ThreadError && !isPoolBusy(error)))
      return failedSample(error.message);
    throw error;
  }
}

function toSample(
  { records, texts = [], predictions, skipped }: ParseResult,
  collection: { skipped: SkippedEntry[]; more: boolean },
): SourceSample {
  const entries = [
    ...records.map(({ title, url, publishTime }) => ({ title, url, publishTime })),
    ...texts.map(({ title, link, publishTime, recordId }) => ({ title: title ?? recordId, url: link, publishTime })),
  ];
  return {
    items: entries.length + (predictions?.count ?? 0),
    indicators: records.reduce((sum, { iocs }) => sum + Object.values(iocs).flat().length, 0),
    more: collection.more,
    samples: entries.slice(0, samplesMax).map(({ title, url, publishTime }) => ({
      title: title.slice(0, textMaxChars),
      url: url ?? null,
      publishTime: publishTime ?? null,
    })),
    skipped: [...collection.skipped, ...skipped]
      .slice(0, skippedMax)
      .map(({ entry, reason }) => ({ entry: entry.slice(0, textMaxChars), reason })),
  };
}

export const failedSample = (error: string): SourceSample => ({
  items: 0,
  indicators: 0,
  more: false,
  samples: [],
  skipped: [],
  error,
});
