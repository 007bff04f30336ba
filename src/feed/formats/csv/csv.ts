import { decodeList } from './decode-list.ts';
import { toListRecord, type ListLine } from './list-record.ts';
import { createRowReader } from './list-row.ts';
import { readTable } from './list-table.ts';
import { isMarkup, readReport } from './list-report.ts';
import type { ParseContext, ParseResult, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { readParts, unzipPart } from '../read-parts.ts';
import { countItems, pickItem } from '../split-record.ts';

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
  parse(parts, context) {
    const lists = parts.flatMap((part) => unzipPart(part, fileNames, zipBounds));
    const sourceName = lists.length === 1 ? context.sourceName : undefined;
    return readParts(lists, (part) => readList(part, { ...context, sourceName }));
  },
};

/**
 * Reads a list as one item. A long list is split into several items by the hash of the value, so that a value stays in its item. A text that is
 * not a list is read as a report.
 */
function readList(part: SourceDocument, context: ParseContext): ParseResult {
  const text = decodeList(part.bytes);
  const table = readTable(text);
  const { header, rows, about, date = part.modified, tlp } = table;
  const read = createRowReader(table);
  const lines: ListLine[] = [];
  let emptyRows = 0;
  for (const cells of rows) {
    const row = read(cells);
    if (row.observables.length === 0) emptyRows += 1;
    else lines.push({ text: renderRow(header, cells), row });
  }
  if (isMarkup(text) || lines.length === 0 || (!header && emptyRows > lines.length)) {
    const report = readReport(text, { ...context, part, tlp });
    if (report) return { records: [report], skipped: [] };
  }
  if (lines.length === 0 && (rows.length > 0 || part.bytes.length === 0))
    throw new Error(
      isPage.test(text)
        ? 'the document is a page of HTML, not a list'
        : 'the list contains no indicator that its column name or form identifies',
    );
  const name = about ?? context.sourceName ?? (part.name.replace(/\.\w+$/, '') || 'List');
  const description = [part.name, name, ...(header ?? [])].join(' ');
  const isPhishing = /phish/i.test(description) && !/malware/i.test(description);
  const count = countItems(lines.length);
  const items = Array.from({ length: count }, (): ListLine[] => []);
  for (const line of lines) items[pickItem(keyOf(line), count)]!.push(line);
  const records = items.flatMap((itemLines, index) =>
    itemLines.length === 0
      ? []
      : [
          toListRecord(
            {
              recordId: count === 1 ? part.name : `${part.name} ${index + 1}/${count}`,
              title: count === 1 ? name : `${name} (${index + 1} of ${count})`,
              lines: itemLines,
              date,
              tlp,
              isPhishing,
            },
            context,
          ),
        ],
  );
  const skipped = emptyRows === 0 ? [] : [{ entry: `${emptyRows} rows`, reason: 'contain no indicator' }];
  return { records, skipped };
}

const isPage = /^\s*<(?:!doctype html|html)\b/i;

/** The value by which a line is assigned to an item. */
const keyOf = ({ row: { observables } }: ListLine): string => {
  const [first] = observables;
  return first?.kind === 'indicator' ? first.normalizedValue : (first?.value ?? '');
};

const renderRow = (header: string[] | undefined, cells: string[]): string =>
  header
    ? cells
        .flatMap((cell, index) => (cell === '' ? [] : [`${header[index] ?? index}: ${cell.replaceAll(/\s+/g, ' ')}`]))
        .join(', ')
    : cells.join(', ');
