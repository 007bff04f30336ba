import { isIPv4, isIPv6 } from 'node:net';
import { toTermValue } from '../terms.ts';
import {
  findDigestType,
  type IndicatorType,
  indicatorTypes,
  isNetworkType,
  normalizeValue,
  typeEntries,
} from './indicator-types.ts';
import { parseAddressRange } from './networks.ts';
import { isPlainDomain, refang } from './normalize.ts';
import { recognizeObservable } from './observables.ts';

// Most likely first. A value that is valid for one of these types has that type. Other types, such as file names, accept almost any text.
const typesByRank = typeEntries.toSorted(([, a], [, b]) => Number(b.isRecognized) - Number(a.isRecognized));

/** `correction` says how the form differs from what was written, as for indicators of sources. */
export type CanonicalForm = { type: string; form: string; isStrict: boolean; correction?: string };

/** Returns the canonical forms of a value in any notation, one for each type that it may have. */
export function canonicalForms(value: string): CanonicalForm[] {
  const isUrl = /^\w+:\/\//.test(refang(value));
  const forms: CanonicalForm[] = typesByRank.flatMap(([type, { isRecognized }]) => {
    const form = normalizeValue(type, value);
    return form === undefined ? [] : [{ type, form, isStrict: isRecognized || (type === 'url' && isUrl) }];
  });
  if (isUrl) return [...forms, ...hostForms(forms)];
  const observable = recognizeObservable(value);
  if (observable) return [{ ...observable, isStrict: true }, ...forms];
  // `192.0.2.1:8080` is stored as its address.
  const host = correctValue('address', value);
  const isKnown = !host || forms.some(({ type, form }) => type === host.type && form === host.normalizedValue);
  if (isKnown) return forms;
  const { type, normalizedValue: form, correction } = host;
  return [{ type, form, isStrict: true, ...(correction ? { correction } : {}) }, ...forms];
}

/** Returns the host of a URL that has nothing else, because sources state a host as such a URL and the other way round. */
function hostForms(forms: CanonicalForm[]): CanonicalForm[] {
  const url = forms.find(({ type }) => type === 'url')?.form;
  const host = url && /^[a-z][a-z0-9+.-]*:\/\/(\[[^\]]+\]|[^/?#@:]+)(?::\d+)?\/?$/.exec(url)?.[1];
  const corrected = host ? correctValue('address', host) : undefined;
  return corrected ? [{ type: corrected.type, form: corrected.normalizedValue, isStrict: false }] : [];
}

/** A value to look up: its canonical forms, of which a strict one shows its type, and what was corrected to read it. */
export type ReadPart = { value: string; forms: CanonicalForm[]; corrections: string[] };

const rangePartsMax = 8;

/**
 * Reads a value as people paste it. A composite value such as `domain|ip` has several parts, and so has a range of addresses that is up to
 * eight networks. Every other value has one.
 */
export function readParts(value: string): ReadPart[] {
  const { text, corrections } = unwrapValue(value);
  const range = parseAddressRange(text) ?? [];
  const isRange = range.length > 0 && range.length <= rangePartsMax;
  if (isRange) corrections.push('range read as networks');
  const parts = isRange ? range : splitComposite(text);
  return parts.map((part) => {
    const forms = canonicalForms(part);
    const isWhole = parts.length === 1 && text !== value.trim();
    // A command may have quotation marks of its own.
    const asWritten = isWhole ? canonicalForms(value).filter(({ form }) => form === value.trim()) : [];
    const correction = forms.find(({ isStrict }) => isStrict)?.correction;
    return { value: part, forms: [...forms, ...asWritten], corrections: [...corrections, correction ?? []].flat() };
  });
}

/** Returns the distinct canonical forms of a value, and of its parts, as they are stored in `item_terms`. */
export const indicatorForms = (value: string): string[] => [
  ...new Set(readParts(value).flatMap(({ forms }) => forms.map(({ form }) => toTermValue('indicator', form)))),
];

/** Refangs each word of a text, and keeps the quotes and signs around it. */
export function refangText(text: string): string {
  return text.replaceAll(/[^\s"]+/g, (word) => refang(word));
}

/** A value without what people write around it. `corrections` say what was removed. */
type UnwrappedValue = { text: string; corrections: string[] };

type Removal = { correction: string; remove: (text: string) => string };

const quotes = '["\'`“”‘’«»]';
const label =
  /^(?:md5|sha-?1|sha-?256|sha-?512|imphash|ssdeep|ip|ipv4|ipv6|domain|host(?:name)?|url|e-?mail|mailto)\s*[:=]\s*(?=[^\s/])/i;

const removals: Removal[] = [
  {
    correction: 'quotation marks removed',
    remove: (text) => text.replace(new RegExp(`^${quotes}+(?=.)|(?<=.)${quotes}+$`, 'gu'), ''),
  },
  { correction: 'brackets removed', remove: removeBrackets },
  { correction: 'punctuation removed', remove: (text) => text.replace(/(?<=.)[,;.]+$/, '') },
  { correction: 'label removed', remove: (text) => text.replace(label, '') },
];

/** Removes what texts and tickets have around a value: quotation marks, brackets, a comma after it, and a label such as `sha256:`. */
export function unwrapValue(value: string): UnwrappedValue {
  const corrections = new Set<string>();
  let text = value.trim();
  const unwrap = (): Removal | undefined => removals.find(({ remove }) => remove(text) !== text);
  // Every removal makes the text shorter.
  for (let removal = unwrap(); removal; removal = unwrap()) {
    text = removal.remove(text).trim();
    corrections.add(removal.correction);
  }
  return text === '' ? { text: value.trim(), corrections: [] } : { text, corrections: [...corrections] };
}

/** Removes the brackets around a value, but not those of an IPv6 address or of a defanged dot. */
function removeBrackets(text: string): string {
  const inner = /^(?:<([^<>]+)>|\(([^()]+)\)|\[([^[\]]+)\])$/.exec(text);
  const found = inner?.[1] ?? inner?.[2] ?? inner?.[3];
  return found === undefined || isIPv6(found) ? text : found;
}

const partsMax = 4;

/**
 * Returns the parts of a composite value as sources write them: `domain|ip`, `file name|sha256`. A value that is not composite, such as a host
 * with its port or a command with a pipe, is its only part.
 */
export function splitComposite(text: string): string[] {
  const isComposite = text.includes('|') && !/\s\||\|\s|\|\||^\||\|$/.test(text) && !/^\w+:\/\//.test(refang(text));
  const parts = isComposite && !correctValue('address', text) ? text.split('|') : [text];
  return parts.length <= partsMax ? parts : [text];
}

/** A value in the type that its form shows. `correction` says what the source states instead. */
type CorrectedValue = { type: IndicatorType; normalizedValue: string; correction?: string };

const valueMaxChars = 8_192;

/**
 * Reads an address or a hash by its form, because sources state an IP address as a domain, an address with its port, a host as a URL, or a
 * SHA-256 as an MD5, and a path as a file name. `address` stands for a host or URL of any type. Returns undefined if the stated type is right or the value has no other form.
 */
export function correctValue(stated: IndicatorType | 'address', value: string): CorrectedValue | undefined {
  if (value.length > valueMaxChars) return undefined;
  if (stated === 'address' || isNetworkType(stated)) return correctAddress(stated, refang(value));
  if (stated === 'file_name') return correctFileName(value.trim());
  return indicatorTypes[stated].logField === 'hash' ? correctHash(stated, value.trim()) : undefined;
}

function correctAddress(stated: IndicatorType | 'address', address: string): CorrectedValue | undefined {
  if (stated === 'domain' && isPlainDomain(address)) return undefined;
  const { host, port } = splitPort(address.replace(wildcard, ''));
  const type = classifyAddress(host);
  const isWildcard = type === 'domain' && wildcard.test(address);
  if (type === undefined || (type === stated && port === undefined && !isWildcard)) return undefined;
  // A host with a port is a valid URL without a scheme, but its port is no part of a host.
  const normalizedValue = normalizeValue(type, host);
  if (normalizedValue === undefined) return undefined;
  const isRetyped = type !== stated && stated !== 'address';
  const changes = [
    ...(isRetyped ? [`stated as ${stated}`] : []),
    ...(port ? [`port ${port} removed`] : []),
    ...(isWildcard ? ['wildcard removed'] : []),
  ];
  return { type, normalizedValue, ...(changes.length > 0 ? { correction: changes.join(', ') } : {}) };
}

/** All hosts below a domain: `*.bad.example`. */
const wildcard = /^\*\.(?=[^/]+$)/;
const scheme = /^(?:https?|ftps?|s?ftp|tcp|udp|wss?|ldaps?|smb|socks[45]?):\/\//i;

function classifyAddress(text: string): IndicatorType | undefined {
  if (scheme.test(text)) return 'url';
  const bare = text.replace(/^\[([^\]]+)\]$/, '$1');
  if (isIPv4(bare.replace(/\/32$/, ''))) return 'ipv4';
  if (isIPv6(bare.replace(/\/128$/, ''))) return 'ipv6';
  // `192.0.2.0/24` is a range and `10.0.0` is a version, not a page.
  if (/^[\d.]+(?:\/\d+)?$/.test(text)) return undefined;
  if (/^[^/?#\s]+\.[^/?#\s]+[/?#]\S*$/.test(text)) return 'url';
  return normalizeValue('domain', text) === undefined ? undefined : 'domain';
}

/** Splits `host:port`, `[v6]:port` and `host|port`. A URL keeps its port. */
function splitPort(text: string): { host: string; port?: string } {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^\s:|/[\]]+)[:|](\d{1,5})$/i.exec(text) ?? [];
  return host && port && Number(port) <= 65_535 ? { host, port } : { host: text };
}

/** A path from a drive, a variable, a share or the root: `C:\a`, `%TEMP%\a`, `\\host\a`, `/tmp/a`, `~/a`. */
const filePath = /^(?:[a-z]:[\\/]|%[\w()]+%[\\/]|\\\\[^\\]|~?\/[^/\s])/i;

const correctFileName = (text: string): CorrectedValue | undefined =>
  filePath.test(text)
    ? { type: 'file_path', normalizedValue: text.normalize('NFC'), correction: 'stated as file_name' }
    : undefined;

function correctHash(stated: IndicatorType, text: string): CorrectedValue | undefined {
  const type = findDigestType(text) ?? (/^\d+:[\w+/]+:[\w+/]+$/.test(text) ? 'ssdeep' : undefined);
  // An import hash is an MD5.
  if (type === undefined || type === stated || (stated === 'imphash' && type === 'md5')) return undefined;
  const normalizedValue = normalizeValue(type, text);
  return normalizedValue === undefined ? undefined : { type, normalizedValue, correction: `stated as ${stated}` };
}
