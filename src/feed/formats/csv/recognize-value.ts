import {
  createAddressObservable,
  createObservable,
  listRangeObservables,
  type Observable,
} from '../../extraction/observable.ts';
import { isMailAddress } from '../../model/values/observables.ts';
import { findDigestType, typeEntries, type IndicatorType } from '../../model/values/indicator-types.ts';
import { toObservables } from '../misp/misp-attributes.ts';

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

/** The way to read a value of a stated type: as an indicator type, as an address, by its form, as another observable, or not at all. */
type ValueKind = IndicatorType | 'address' | 'form' | 'file' | 'none' | { framework: string };

const other = (framework: string): ValueKind => ({ framework });
const owner = '(?:dst|src|dest|destination|source|remote|attackers?|malicious|c2|cc|cnc|network|sender)?';

/** Words for the type of a value, in lower case without punctuation: `ipaddress`, `filehashsha256`. */
const kindByWord: [RegExp, ValueKind][] = [
  ...typeEntries.flatMap(([type, { csv }]): [RegExp, ValueKind][] => (csv.word === null ? [] : [[csv.word, type]])),
  [/^(?:file)?hash(?:es|value)?$/, 'form'],
  [new RegExp(`^${owner}ip(?:v[46])?(?:addr(?:ess(?:es)?)?)?s?(?:dst|src)?(?:port)?$`), 'address'],
  [/^(?:cidr|subnet|iprange|ipnetmask|netblock)s?$/, 'address'],
  [/^(?:c2|cc|cnc)(?:server)?s?$/, 'form'],
  [/^(?:related|dropped|malicious)?files?$/, 'file'],
  [/^(?:sender|from|replyto|recipient)?emails?(?:addr(?:ess(?:es)?)?)?(?:src|dst|from|sender)?$/, other('email')],
  [/^emailsubjects?$/, other('email-subject')],
  [/^mutex(?:es|name)?$/, other('mutex')],
  [/^pdb(?:path|file|name)?s?$/, other('pdb')],
  [/^useragents?$/, other('user-agent')],
  [/^(?:asn?|autonomoussystem)$/, other('asn')],
  [/^(?:btc|bitcoin)(?:address|wallet)?$/, other('btc')],
  [/^(?:cves?|vulnerability)$/, other('cve')],
  [/^(?:ja3s?|ja4|jarm|tlsh|pehash|vhash|authentihash|sha224|sha384)$/, 'form'],
  [/^(?:yara|sigma|snort|suricata)(?:rule)?s?$/, other('rule')],
  [/^(?:description|references?|reports?|links?|notes?|comments?|title|author|sources?|campaign)$/, 'none'],
];

const toWord = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '');
const findKind = (text: string): ValueKind | undefined => {
  const word = toWord(text);
  return word.length > 30 ? undefined : kindByWord.find(([pattern]) => pattern.test(word))?.[1];
};

/** Returns whether a cell names the type of a value, such as `FileHash-SHA256`. */
export const isTypeWord = (cell: string): boolean => findKind(cell) !== undefined;

/** Returns whether the type of a row means that the row is about the list, such as its report. */
export const isAboutWord = (type: string): boolean => findKind(type) === 'none';

/** Returns the observables of a cell whose type another cell of its row states. A value of an unknown type is recognized by its form. */
export function readTypedValue(type: string, cell: string): Observable[] {
  if (type.includes('|') && cell.includes('|')) return toObservables(type.trim().toLowerCase(), cell, undefined);
  const kind = findKind(type) ?? 'form';
  if (kind === 'none') return [];
  if (kind === 'form' || kind === 'file') {
    const found = splitValues(cell).flatMap(recognizeValue);
    if (found.length > 0) return found;
    if (kind === 'file') return [createObservable(/[\\/]/.test(cell) ? 'file_path' : 'file_name', cell)];
    return isTypeWord(type) ? [{ kind: 'other', framework: `observable:${toWord(type)}`, value: cell }] : [];
  }
  if (typeof kind === 'object') return [toOther(kind.framework, cell)];
  return splitValues(cell).flatMap((value) => {
    const stated = kind === 'address' ? createAddressObservable(value, 'address') : createObservable(kind, value);
    const found = stated.kind === 'indicator' ? [] : recognizeValue(value);
    return found.length > 0 ? found : [stated];
  });
}

function toOther(framework: string, value: string): Observable {
  const isCve = framework === 'cve' && /^CVE-\d{4}-\d{4,19}$/i.test(value);
  return { kind: 'other', framework: isCve ? 'cve' : `observable:${framework}`, value };
}
