import papaparse from 'papaparse';
import { toStorableText } from '../../extraction/text/stored-text.ts';
import { parseFeedDate } from '../rss/feed-dates.ts';

/** A list as rows of cells. `about` is the first text and `date` the first date in its comments. */
export type ListTable = {
  header: string[] | undefined;
  rows: string[][];
  about: string | undefined;
  date: string | undefined;
};

const rowsMax = 400_000;
const cellsMax = 200;
const blanksBeforeQuote: Record<string, RegExp> = { '\t': /\t +"/g, ',': /, +"/g, ';': /; +"/g, '|': /\| +"/g };
const comment = /^\s*(?:#|;|\/\/|!)/;
/** Column names that identify a line as the header. */
const headerName =
  /\b(?:url|uri|ip|dst_ip|ip_address|ipv4|ipv6|domain|host|hostname|fqdn|md5|sha1|sha256|hash|md5_hash|sha1_hash|sha256_hash|indicator|ioc|ioc_value|value|observable|title|first_seen|firstseen|dateadded|date_added)\b/i;

/** Reads CSV in any dialect and plain lists with one value per line. Comments are omitted, but one of them may be the header. */
export function readTable(text: string): ListTable {
  const lines = toStorableText(text.replace(/^\uFEFF/, '')).split(/\r\n?|\n/);
  const comments = lines.filter((line) => comment.test(line));
  const data = lines.filter((line) => line.trim() !== '' && !comment.test(line));
  if (data.length > rowsMax) throw new Error(`the list has more than ${rowsMax} rows`);
  const delimiter = findDelimiter(data);
  const cells = (line: string): string[] => splitLine(line, delimiter);
  // Quoted cells may contain line breaks, so a line is not always a row.
  const rows = delimiter === undefined ? data.map((line) => [line.trim()]) : parseRows(data.join('\n'), delimiter);
  const first = rows[0];
  const headerComment = comments
    .slice(0, 50)
    .findLast((line) => delimiter !== undefined && isHeader(cells(line.replace(comment, '').trim())));
  const commentCells = headerComment && cells(headerComment.replace(comment, '').trim());
  const header = first && isHeader(first) ? rows.shift() : commentCells || undefined;
  const notes = comments.filter((line) => line !== headerComment);
  return { header: header?.map(normalizeName), rows, about: findTitle(notes), date: findDate(notes) };
}

// A quote may follow blanks: `"a", "b, c"`.
const parseRows = (text: string, delimiter: string): string[][] =>
  papaparse
    .parse<string[]>(text.replaceAll(blanksBeforeQuote[delimiter]!, `${delimiter}"`), {
      delimiter,
      skipEmptyLines: 'greedy',
    })
    .data.map((row) => row.slice(0, cellsMax).map((cell) => cell.trim()));
const splitLine = (line: string, delimiter: string | undefined): string[] =>
  delimiter === undefined ? [line] : (parseRows(line, delimiter)[0] ?? []);

/** Returns the delimiter that splits most of the first rows into the same number of cells, or undefined for a plain list. */
function findDelimiter(data: string[]): string | undefined {
  const sample = data.slice(0, 20);
  if (sample.length === 0) return undefined;
  for (const delimiter of Object.keys(blanksBeforeQuote)) {
    const widths = parseRows(sample.join('\n'), delimiter).map((row) => row.length);
    const usual = widths.toSorted((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 1;
    if (usual > 1 && widths.filter((width) => width === usual).length >= widths.length * 0.8) return delimiter;
  }
  return undefined;
}

const isHeader = (cells: string[]): boolean =>
  cells.some((cell) => headerName.test(normalizeName(cell))) &&
  cells.every((cell) => /^["\w .()/#-]{1,60}$/.test(cell) && !/^\d+(?:\.\d+)*$/.test(cell));

const normalizeName = (cell: string): string =>
  cell
    .replaceAll(/["'#]/g, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');

const statedDate =
  /\b(?:last[ -]?(?:updated?|modified)|updated|generated|date)(?: (?:on|at))?\s*:?\s+([A-Za-z]{3}.*|\d{4}-\d\d-\d\d.*)/i;

function findDate(comments: string[]): string | undefined {
  for (const line of comments.slice(0, 50)) {
    const date = parseFeedDate(statedDate.exec(line.slice(0, 1_000))?.[1]);
    if (date) return date;
  }
  return undefined;
}

function findTitle(comments: string[]): string | undefined {
  const texts = comments.map((line) =>
    line
      .slice(0, 1_000)
      .replace(/^[\s#;/!*=-]+/, '')
      .replace(/[\s#*=-]+$/, ''),
  );
  return texts.find((text) => /\p{L}{3}/u.test(text) && !headerName.test(text.split(/[,;\t]/)[0] ?? ''))?.slice(0, 200);
}
