import papaparse from 'papaparse';
import { fieldError } from '../../platform/lib/errors.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import { canonicalText } from '../../platform/lib/text/canonical-text.ts';
import { flattenRow, isAbsent } from '../analysis/rows/fields.ts';
import type { QueryRow } from '../siem/connector.ts';
import { columnName, columnsMax, rowsMax, cellCharsMax, type ValueListInput } from './value-lists.schema.ts';

/** The rows of a list. `values` is its first column, and `rows` are all cells, or null if there is no other column. */
export type ValueListContent = { columns: string[]; values: string[]; rows: string[][] | null };

/** Returns the content of a request, without repeated rows. Throws 400 for one that is incomplete or too large. */
export function readContent({ values, columns, rows, csv, source }: ValueListInput): ValueListContent {
  const given = Object.entries({ values, rows, csv, source }).filter(([, value]) => value !== undefined);
  if (given.length !== 1)
    throw fieldError('/values', 'invalid', 'Specify exactly one of values, columns with rows, csv, and source.');
  if (csv !== undefined) return readCsv(csv, (detail) => fieldError('/csv', 'invalid', detail));
  if (values !== undefined)
    return toContent(
      columns ?? ['value'],
      values.map((value) => [value]),
      '/columns',
    );
  if (columns === undefined && !(source && 'url' in source))
    throw fieldError('/columns', 'required', 'Specify columns with rows or a query.');
  return toContent(columns ?? ['value'], rows ?? [], '/rows');
}

function toContent(columns: string[], rows: readonly string[][], pointer: string): ValueListContent {
  const uneven = rows.findIndex((row) => row.length !== columns.length);
  if (uneven >= 0)
    throw fieldError(
      pointer === '/rows' ? `/rows/${uneven}` : pointer,
      'invalid',
      `Row ${uneven + 1} has ${rows[uneven]!.length} cells, but there are ${columns.length} columns.`,
    );
  const empty = rows.findIndex(([first]) => first === '');
  if (empty >= 0) throw fieldError(`/rows/${empty}/0`, 'invalid', `The first cell of row ${empty + 1} is empty.`);
  if (new Set(columns).size < columns.length) throw fieldError('/columns', 'invalid', 'Names of columns must differ.');
  const distinct = [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
  return { columns, values: distinct.map(([first]) => first!), rows: columns.length > 1 ? distinct : null };
}

const toColumnName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^@/, '')
    .replaceAll(/[\s.-]+/g, '_');

/** Reads some columns of rows that a query found. A row without the first one is left out. Throws an `ExternalError` for what a list cannot have. */
export function readRows(columns: string[], found: readonly QueryRow[]): ValueListContent {
  const named = found.map((row) => new Map(flattenRow(row).map(([name, value]) => [toColumnName(name), value])));
  const missing = columns.find((column) => named.length > 0 && !named.some((row) => row.has(column)));
  if (missing !== undefined) throw new ExternalError(`The query returned no column ${missing}.`);
  const rows = named
    .map((row) => columns.map((column) => canonicalText(row.get(column)) ?? ''))
    .filter(([first]) => !isAbsent(first!));
  const long = rows.flat().find((cell) => cell.length > cellCharsMax);
  if (long !== undefined)
    throw new ExternalError(`A cell has more than ${cellCharsMax} characters: ${long.slice(0, 100)}….`);
  return toContent(columns, rows, '/rows');
}

/** Reads CSV whose first line has the names of the columns (RFC 4180, and other separators). `toError` makes the error that is thrown. */
export function readCsv(text: string, toError: (detail: string) => Error): ValueListContent {
  const { data, errors } = papaparse.parse<string[]>(text.replace(/^\uFEFF/, '').trim(), { skipEmptyLines: 'greedy' });
  const broken = errors.find(({ type }) => type === 'Quotes');
  if (broken) throw toError(`Row ${(broken.row ?? 0) + 1} of the CSV is malformed: ${broken.message}.`);
  const [header = [], ...rows] = data.map((row) => row.map((cell) => cell.trim()));
  const columns = header.map(toColumnName);
  const bad = columns.find((name) => !columnName.test(name));
  if (columns.length === 0 || bad !== undefined)
    throw toError(
      `The first line of the CSV must have the names of the columns, made of letters, digits and underscores, not "${(bad ?? '').slice(0, 100)}".`,
    );
  if (columns.length > columnsMax || new Set(columns).size < columns.length)
    throw toError(`The CSV must have at most ${columnsMax} columns with different names.`);
  if (rows.length > rowsMax) throw toError(`The CSV has ${rows.length} rows. At most ${rowsMax} are allowed.`);
  const wrong = rows.findIndex(
    (row) => row.length !== columns.length || row[0] === '' || row.some((cell) => cell.length > cellCharsMax),
  );
  if (wrong >= 0)
    throw toError(
      `Row ${wrong + 2} of the CSV must have ${columns.length} cells of at most ${cellCharsMax} characters, the first of them not empty.`,
    );
  return toContent(columns, rows, '/csv');
}
