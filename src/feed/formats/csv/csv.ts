import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Observable } from '../../extraction/observable.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { toListLine, createRowReader, isUnreadable, type ListRow } from './list-row.ts';
import { toListRecord } from './list-record.ts';
import { readTable } from './list-table.ts';
import type { DraftResult, ParseContext, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../fetch-session.ts';
import { draftParts, toDraft, toParse, unzipPart } from '../read-parts.ts';
import { countItems, itemsMax, pickItem } from '../split-record.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { unpackGzip } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from '../decode-document.ts';
import { extractItem } from '../../extraction/extract-item.ts';
import { toTextRecord } from '../../extraction/text/text-record.ts';
import { buckets, type Tlp } from '../../model/vocabulary.ts';
import { recognizeValue } from './recognize-value.ts';

const zipBounds = { entriesMax: 100, entryMaxBytes: 64 * 1024 * 1024, totalMaxBytes: 128 * 1024 * 1024 };
const fileNames = /\.(?:csv|tsv|txt|list|netset|ipset|hosts|json|jsonl|ndjson)$/i;

/**
 * Lists of indicators: CSV in any dialect and JSON, recognized by the names of their fields, plain lists with one value per line, and texts
 * between whose lines the values stand.
 */
export const csv: SourceFormat = {
  label: 'CSV, JSON and plain lists of indicators',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  files: /\.(?:csv|tsv|txt|list|netset|ipset|hosts|json|jsonl|ndjson)(?:\.gz)?$|\.zip$/i,
  parse: toParse(draftLists),
  draft: draftLists,
};

function draftLists(parts: SourceDocument[], context: ParseContext): DraftResult {
  const lists = parts.flatMap((part) => unzipPart(part, fileNames, zipBounds));
  const sourceName = lists.length === 1 ? context.sourceName : undefined;
  return draftParts(lists, (part) => draftList(part, { ...context, sourceName }));
}

/** A row with values, and the number by which it is assigned to an item. */
type FilledRow = { cells: string[]; slot: number };

/**
 * Reads a list as one item. A long list is split into several items by the hash of the value, so that a value stays in its item. A text that is
 * not a list is read as a report. Rows are read again when their item is built, because all of a long list take much memory.
 */
function draftList(part: SourceDocument, context: ParseContext): DraftResult {
  const text = decodeList(part.bytes);
  const table = readTable(text);
  const { header, rows, about, date = part.modified, tlp } = table;
  const read = createRowReader(table);
  const filled: FilledRow[] = [];
  let [emptyRows, unreadableRows, chars] = [0, 0, 0];
  const reports: NonNullable<ListRow['report']>[] = [];
  for (const cells of rows) {
    const row = read(cells);
    const { observables, report } = row;
    if (isUnreadable(row)) unreadableRows += 1;
    if (report) reports.push(report);
    if (observables.length === 0) emptyRows += 1;
    else filled.push({ cells, slot: pickItem(keyOf(observables), itemsMax) });
    chars += cells.reduce((sum, cell) => sum + cell.length, 0);
  }
  const isText = !header && (emptyRows > filled.length || (filled.length <= textRowsMax && rows.some(isProse)));
  if (isMarkup(text) || filled.length === 0 || isText) {
    const prose = readReport(text, { ...context, part, tlp });
    if (prose) return { drafts: [toDraft(prose)], skipped: [] };
  }
  if (filled.length === 0 && (rows.length > 0 || part.bytes.length === 0))
    throw new ExternalError(
      foreignFormats.find(([pattern]) => pattern.test(text))?.[1] ??
        'the list contains no indicator that its column name or form identifies',
    );
  const report = reports.length === 1 ? reports[0] : undefined;
  const name = about ?? report?.title ?? context.sourceName ?? (part.name.replace(/\.\w+$/, '') || 'List');
  const description = [part.name, name, ...(header ?? [])].join(' ');
  const isPhishing = /phish/i.test(description) && !/malware/i.test(description);
  const count = countItems(filled.length, chars);
  const items = Array.from({ length: count }, (): FilledRow[] => []);
  for (const row of filled) items[row.slot % count]!.push(row);
  const drafts = items.flatMap((itemRows, index) => {
    if (itemRows.length === 0) return [];
    const recordId = count === 1 ? part.name : `${part.name} ${index + 1}/${count}`;
    const title = count === 1 ? name : `${name} (${index + 1} of ${count})`;
    const build = (): SourceRecord => {
      const lines = itemRows.map(({ cells }) => toListLine(header, cells, read(cells)));
      return { ...toListRecord({ recordId, title, lines, date, tlp, isPhishing }, context), url: report?.url };
    };
    return [{ recordId, publishTime: undefined, build }];
  });
  const skipped = [
    { entry: `${emptyRows} rows`, reason: 'contain no indicator' },
    {
      entry: `${unreadableRows} rows`,
      reason: 'contain no indicator, only text that is not what its column is named for',
    },
  ];
  return { drafts, skipped: skipped.filter((_, index) => [emptyRows, unreadableRows][index]! > 0) };
}

/** A longer list is not read as a text with paragraphs. */
const textRowsMax = 1_500;

/** Returns whether a line is a paragraph between the values of a list. */
const isProse = ([line = '']: string[]): boolean =>
  line.length >= 150 && line.split(/\s+/).filter((word) => /^[a-z]{2,}[,.]?$/.test(word)).length >= 15;

const foreignFormats: [RegExp, string][] = [
  [/^\s*<(?:!doctype html|html)\b/i, 'the document is a page of HTML, not a list'],
  [/^\s*<(?:[^>]*>\s*<)*(?:ioc|OpenIOC)\b/, 'the document is OpenIOC, which is not read: use STIX, MISP or a list'],
  [/^\s*<\?xml\b/i, 'the document is XML, not a list'],
];

/** The value by which a row is assigned to an item. */
const keyOf = ([first]: Observable[]): string =>
  first?.kind === 'indicator' ? first.normalizedValue : (first?.value ?? '');

/** Bytes of UTF-16, as spreadsheets and PowerShell write it. */
const wideMarks = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/**
 * Decodes a list, gzipped or not: UTF-8, UTF-16 with or without a byte order mark, or else windows-1252, in which spreadsheets save. Throws an Error for
 * bytes that are no text.
 */
function decodeList(bytes: Buffer): string {
  const unpacked = unpackGzip(bytes);
  const wide = findUnmarkedWide(unpacked);
  if (wide) return new TextDecoder(wide).decode(unpacked);
  if (isUtf8(unpacked)) return unpacked.toString('utf8').replace(/^\uFEFF/, '');
  const isWide = wideMarks.some(([first, second]) => unpacked[0] === first && unpacked[1] === second);
  const isText = isWide ? unpacked.length % 2 === 0 : !unpacked.some((byte) => isControl(byte));
  if (!isText) throw new ExternalError('the document is not UTF-8, UTF-16 or windows-1252');
  return decodeDocument(unpacked, undefined).replace(/^\uFEFF/, '');
}

/** Returns the byte order of UTF-16 without a mark: nearly every second byte of its Latin text is zero. */
function findUnmarkedWide(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const head = bytes.subarray(0, 1_000);
  const countZeros = (parity: number): number =>
    head.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const [even, odd] = [countZeros(0), countZeros(1)];
  const [most, least] = [Math.max(even, odd), Math.min(even, odd)];
  if (bytes.length % 2 !== 0 || least > 0 || most < head.length * 0.4) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Returns whether a byte is a control character other than a tab, a line break or a form feed. */
const isControl = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32);

const textMaxChars = 1_000_000;

/** A table of Markdown or AsciiDoc. */
const markupTable = /^[ \t]*(?:\|[ \t]*)?:?-{3,}:?[ \t]*\|[ \t:|-]*$|^\|===[ \t]*$/m;

/** Returns whether a text is Markdown or AsciiDoc with a table. */
const isMarkup = (text: string): boolean => text.length <= textMaxChars && markupTable.test(text);

const commentWithAddress = /^\s*(?:#|;|\/\/)[^\n]*(?:\/\/|\w\.\w|@)/;
const heading = /^[ \t]*(?:#{1,3}|=)[ \t]+(\S.{2,200})$/m;

/** The first line, followed by an empty one: `2026-07-30 - A campaign with documents for Emotet`. */
const firstLine = /^\s*(\S[^\r\n]{15,148}[^\s:.;,])[ \t]*\r?\n[ \t]*\r?\n/;

/** Returns the first line of a text if it is a headline: at least four words and no value. */
function findHeadline(text: string): string | undefined {
  const line = firstLine.exec(text)?.[1]?.replace(/^[#=*\s-]+/, '');
  const words = line?.split(/\s+/) ?? [];
  return words.length >= 4 && words.every((word) => recognizeValue(word).length === 0) ? line : undefined;
}

type ReportContext = ParseContext & { part: SourceDocument; tlp: Tlp | undefined };

/**
 * Returns the record of a text with values between its lines, such as the indicators of a report in Markdown. Returns undefined for a text
 * without values, for JSON and for markup such as an error page.
 */
function readReport(text: string, { part, tlp, sourceName, lists }: ReportContext): SourceRecord | undefined {
  if (text.length > textMaxChars || /^\s*[<[{]/.test(text)) return undefined;
  // The comments of a list are about its publisher. Headings contain no addresses.
  const lines = text.split(/\r?\n/).filter((line) => !commentWithAddress.test(line));
  const start = text.slice(0, 2_000);
  const title = heading.exec(start)?.[1]?.trim() ?? findHeadline(start) ?? sourceName ?? part.name;
  const extracted = extractItem({ text: lines.join('\n'), title, sourceUrl: part.url }, lists);
  if (buckets.every((bucket) => extracted.iocs[bucket].length === 0)) return undefined;
  const key = createHash('sha256')
    .update(JSON.stringify([title, extracted.storedText]))
    .digest('hex');
  return {
    ...toTextRecord(extracted, { recordId: part.name, canonicalKey: `txt:${key}`, textUrl: part.url, tlp }),
    publishTime: extracted.publishTime ?? part.modified,
    isProse: true,
  };
}
