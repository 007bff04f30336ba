import { createObservable, createAddressObservable, type Observable } from '../../extraction/observable.ts';
import { toObservables } from '../misp/misp-attributes.ts';
import { recognizeValue, splitValues } from './recognize-value.ts';
import { typeEntries, type IndicatorType } from '../../model/values/indicator-types.ts';

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
