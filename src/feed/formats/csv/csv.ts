import { decodeList } from './decode-list.ts';
import type { Observable } from '../../extraction/observable.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { toListLine } from './list-line.ts';
import { toListRecord } from './list-record.ts';
import { createRowReader, isUnreadable, type ListRow } from './list-row.ts';
import { readTable } from './table/list-table.ts';
import { isMarkup, readReport } from './list-report.ts';
import type { DraftResult, ParseContext, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { draftParts, toDraft, toParse, unzipPart } from '../read-parts.ts';
import { countItems, itemsMax, pickItem } from '../split-record.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

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
