import {
  createAddressObservable,
  createObservable,
  listRangeObservables,
  type Observable,
} from '../../extraction/observable.ts';
import { isMailAddress } from '../../model/values/observables.ts';
import { findDigestType } from '../../model/values/indicator-types.ts';

/** The longest address that occurs in practice. Longer cells are prose. */
const cellMaxChars = 8_192;

/** Notations of block lists, with the blocked value as their group. */
const blockRules = [
  // Hosts files.
  /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(\S+\.\S+)$/,
  // Adblock.
  /^\|\|([^^/$]+)\^.*$/,
  // dnsmasq.
  /^(?:address|server|local)=\/([^/]+)\/\S*$/,
  // Unbound.
  /^local-zone:\s*"([^"]+)"\s+\S+$/,
  // Response policy zones.
  /^(?:\*\.)?(\S+\.\S+)\s+(?:\d+\s+)?(?:IN\s+)?CNAME\s+\S+$/i,
  // ipset, nginx and Apache.
  /^add\s+\S+\s+([^\s,]+)(?:,\S+)?(?:\s.*)?$/,
  /^(?:deny(?:\s+from)?|Require\s+not\s+ip)\s+([^\s;]+);?$/i,
  // PeerGuardian: a name and a range.
  /^[^:]*:(\d[\d.]+-\d[\d.]+)$/,
];

/** Returns the kind of a value by its form, as in plain lists, hosts files and block rules. Returns nothing for other text. */
export function recognizeValue(cell: string): Observable[] {
  // An exception of Adblock lists what must not be blocked.
  if (cell.length > cellMaxChars || cell.startsWith('@@')) return [];
  const line = cell
    .replace(/\s+[;#].*$/, '')
    .replace(/^(?:(?:[-*+•]|\d{1,4}[.)])\s+|[-•](?=[\p{L}\p{N}]))/u, '')
    .replace(/^([`"'])(.*)\1$/, '$2')
    .trim();
  const rule = blockRules.find((pattern) => pattern.test(line));
  const value = (rule?.exec(line)?.[1] ?? line).replace(/^\*\./, '');
  const range = listRangeObservables(value);
  if (range) return range;
  if (value === '' || /[\s`]|\.rpz-[a-z-]+$/.test(value)) return [];
  const hash = findDigestType(value);
  if (hash) return [createObservable(hash, value)];
  if (/^AS\d{1,10}$/.test(value)) return [{ kind: 'other', framework: 'observable:asn', value }];
  if (/^[a-z]{3,10}(?:\[?:\]?)\/\//i.test(value)) return [createObservable('url', value)];
  const found = createAddressObservable(value);
  const isMail = found.kind === 'other' && found.framework === 'observable:email';
  const isOther = found.kind === 'other' && found.framework === 'observable:domain';
  return isOther || (isMail && !isMailAddress(value)) ? [] : [found];
}

/** Returns the values of a cell that contains several, separated by line breaks, blanks, commas, semicolons or bars, or the cell itself. */
export function splitValues(cell: string): string[] {
  if (!/[\s,;|]/.test(cell)) return [cell];
  const parts = cell.split(/[\s,;|]+/).filter((part) => part !== '');
  const areValues = parts.every((part) => recognizeValue(part).length > 0);
  return areValues && parts.length > 1 ? parts : [cell];
}

/** Returns the value of a cell, or all of them if it contains several. */
export function readValues(cell: string): Observable[] {
  const whole = recognizeValue(cell);
  return whole.length > 0 ? whole : splitValues(cell).flatMap(recognizeValue);
}

/** Values of one cell that stay in one row. */
const valuesPerRow = 100;
/** The shortest text of so many values. */
const wideMinChars = valuesPerRow * 4;
const valueCellsMin = 10;
const valueShareMin = 0.8;

/** Splits a row without a header whose cells are all values, such as addresses in one line, into a row for each. */
export const splitValueRow = (cells: string[]): string[][] => {
  if (cells.length < valueCellsMin) return [cells];
  const values = cells.filter((cell) => recognizeValue(cell).length > 0);
  return values.length < cells.length * valueShareMin ? [cells] : cells.map((cell) => [cell]);
};

/** Splits a row with a cell of more than 100 values into several rows, which repeat the other cells. */
export function splitWideRow(cells: string[]): string[][] {
  if (cells.every((cell) => cell.length < wideMinChars)) return [cells];
  const groups = cells.map((cell) => (cell.length < wideMinChars ? [cell] : groupValues(cell)));
  const count = Math.max(...groups.map((group) => group.length));
  // Each value of a cell gets a row, and each row repeats what applies to all of them.
  return Array.from({ length: count }, (_, index) =>
    groups.map((group) => (group.length === 1 ? group[0]! : (group[index] ?? ''))),
  );
}

function groupValues(cell: string): string[] {
  const values = splitValues(cell);
  const groups = Array.from({ length: Math.ceil(values.length / valuesPerRow) }, (_, index) =>
    values.slice(index * valuesPerRow, (index + 1) * valuesPerRow).join(' '),
  );
  return groups.length > 1 ? groups : [cell];
}
