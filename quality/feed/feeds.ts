import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { type FeedEntry, readFeed } from '../../src/feed/formats/rss/read-feed.ts';
import { htmlToLine } from '../../src/feed/formats/rss/html-text.ts';
import { requireData, readRecordedRows } from '../recorded-inputs.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';

type Expectation = { file: string; expect: string; headers?: Record<string, string> };
type ReadDocument = { entries: FeedEntry[]; error?: string; ms: number };
/** One claim of an expectation: the number of entries, or the value of an entry's field. */
type Claim = { text: string; index: number; field: string; value: string };

const server = 'http://127.0.0.1:8097/tests/';
const slowMs = 2_000;
const targetShare = 0.99;
const fields: Record<string, (entry: FeedEntry) => string | undefined> = {
  title: ({ title }) => title,
  link: ({ link }) => link,
  id: ({ id }) => id,
  guid: ({ id }) => id,
  published: ({ published }) => published,
  updated: ({ updated }) => updated,
  created: ({ created }) => created,
};

/** Checks entry counts, titles, links, ids and dates against the expectations of the feedparser tests, and the parse time. */
export async function measureFeeds(verbose: boolean): Promise<QualityFigure[]> {
  const files = unzipSync(readFileSync(join(requireData(), 'feed/rss/feedparser-tests.zip')));
  const rows = readRecordedRows<Expectation>('feed/rss/expectations.ndjson.gz').filter(
    ({ file }) => !file.includes('/cdf/'),
  );
  const read = rows.map((row) => ({ row, read: readDocument(row, Buffer.from(files[row.file]!)) }));
  const isBroken = ({ file, expect }: Expectation): boolean =>
    file.startsWith('illformed/') || (/\bbozo\b/.test(expect) && !/\bnot bozo\b/.test(expect));
  const claims = read
    .filter(({ row }) => !isBroken(row))
    .flatMap((one) => parseClaims(one.row.expect).map((claim) => ({ ...one, claim })));
  const wrong = claims.filter(({ claim, read }) => !isClaimTrue(claim, read));
  if (verbose)
    for (const { row, claim, read } of wrong)
      console.log(
        `wrong: ${row.file}: ${claim.text}, parsed: ${read.error ?? JSON.stringify(getClaimedValue(claim, read))}`,
      );
  const broken = read.filter(({ row }) => isBroken(row));
  const slow = read.filter(({ read: { ms } }) => ms > slowMs);
  const lost = read.filter(({ row, read }) => read.error !== undefined && !isBroken(row));
  if (verbose) for (const { row, read } of lost) console.log(`not read: ${row.file}: ${read.error}`);
  const right = claims.length - wrong.length;
  return [
    {
      name: 'expected counts, titles, links, ids and dates in well-formed documents',
      measured: `${formatRatio(right, claims.length)} (${right}/${claims.length})`,
      target: `≥ ${targetShare}`,
      isMet: right / claims.length >= targetShare,
    },
    {
      name: 'well-formed documents that parse',
      measured: `${formatRatio(rows.length - broken.length - lost.length, rows.length - broken.length)} (of ${rows.length - broken.length})`,
    },
    {
      name: 'documents that crash the parser or take longer than 2 s',
      measured: `${slow.length} of ${rows.length} (${broken.length} malformed); longest ${Math.ceil(Math.max(...read.map(({ read: { ms } }) => ms)))} ms`,
      target: '0',
      isMet: slow.length === 0,
    },
  ];
}

/** Parses a document. An Error is a rejection with a reason. Any other exception aborts the measurement. */
function readDocument({ file, headers = {} }: Expectation, bytes: Buffer): ReadDocument {
  const header = (name: string): string | undefined =>
    Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const began = performance.now();
  try {
    const { entries } = readFeed({
      bytes,
      contentType: header('content-type'),
      url: header('content-location') ?? (/\/http_/.test(file) ? server + file : undefined),
    });
    return { entries, ms: performance.now() - began };
  } catch (error) {
    if (!(error instanceof Error) || error.constructor !== Error) throw error;
    return { entries: [], error: error.message, ms: performance.now() - began };
  }
}

const entryField = String.raw`entries\[(\d+)\]\s*(?:\[['"](\w+)['"]\]|\.(\w+))`;

/** Parses the claims of an expectation. `entries[0]['id'] == entries[1]['id'] == 'x'` is two claims. Other fields are ignored. */
function parseClaims(expect: string): Claim[] {
  const claims: Claim[] = [];
  for (const match of expect.matchAll(
    new RegExp(String.raw`((?:${entryField}\s*==\s*)+)(u?'(?:[^'\\]|\\.)*'|u?"(?:[^"\\]|\\.)*"|\([\d, ]+\))`, 'g'),
  )) {
    const value = parseLiteral(match.at(-1)!);
    for (const one of match[1]!.matchAll(new RegExp(entryField, 'g'))) {
      const field = (one[2] ?? one[3])!.replace(/_parsed$/, '');
      if (Object.hasOwn(fields, field)) claims.push({ text: match[0], index: Number(one[1]), field, value });
    }
  }
  for (const match of expect.matchAll(/len\(entries\)\s*==\s*(\d+)/g))
    claims.push({ text: match[0], index: 0, field: 'count', value: match[1]! });
  return claims;
}

/** Parses a Python string literal, or a time tuple to ISO text. */
function parseLiteral(text: string): string {
  if (text.startsWith('(')) {
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = text.slice(1, -1).split(',').map(Number);
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second)).toISOString();
  }
  return text
    .replace(/^u/, '')
    .slice(1, -1)
    .replaceAll(/\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|(.))/gi, (...[, x, u, long, plain]) =>
      plain === undefined ? String.fromCodePoint(Number.parseInt(x ?? u ?? long, 16)) : plain === 'n' ? '\n' : plain,
    );
}

function getClaimedValue({ field, index }: Claim, { entries }: ReadDocument): string | undefined {
  return field === 'count' ? String(entries.length) : entries[index] && fields[field]!(entries[index]);
}

/** Compares a claim with the parsed entry. Expected markup in titles is compared as plain text, dates as instants. */
function isClaimTrue(claim: Claim, read: ReadDocument): boolean {
  const actual = getClaimedValue(claim, read) ?? '';
  if (actual === claim.value) return true;
  if (claim.field === 'title') return actual === htmlToLine(claim.value);
  return ['published', 'updated', 'created'].includes(claim.field) && Date.parse(actual) === Date.parse(claim.value);
}
