import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { ownValue } from '../../../platform/lib/json/json-values.ts';

type Rule = (text: string) => string | undefined;

/** Returns a rule for values of a pattern, which is that of the canonical form. */
export const matching =
  (pattern: RegExp, toForm = (text: string): string => text): Rule =>
  (text) =>
    pattern.test(toForm(text)) ? toForm(text) : undefined;
export const toLower = (text: string): string => text.toLowerCase();
export const toNfc: Rule = (text) => text.normalize('NFC');

export function normalizeIpv4(text: string): string | undefined {
  const address = refang(text).replace(/\/32$/, '');
  return isIPv4(address) ? address : undefined;
}

/** Follows RFC 5952: lower case, `::` for the longest run of zeros, and dotted notation for mapped IPv4 addresses. */
export function normalizeIpv6(text: string): string | undefined {
  const address = refang(text)
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\/128$/, '');
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!mapped) return short;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** A host in lower-case ASCII whose last label begins with a letter. It is its own canonical form. */
const plainDomain =
  /^(?!.*xn--)(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Returns whether a value is a domain in canonical form. Returns false for a few that are, such as names in Punycode. */
export const isPlainDomain = (text: string): boolean => plainDomain.test(text);

export function normalizeDomain(text: string): string | undefined {
  if (isPlainDomain(text)) return text;
  const ascii = domainToASCII(refang(text).replace(/\.$/, ''));
  if (ascii.length > 253 || isIPv4(ascii) || !/\.[^.]*[a-z][^.]*$/.test(ascii)) return undefined;
  return ascii.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? ascii : undefined;
}

/** Serializes by the URL standard: the host in lower-case ASCII, without a default port. The fragment is removed. */
export function normalizeUrl(text: string): string | undefined {
  const refanged = refang(text);
  // Some write `http//host` or `http:/host`.
  const slashed = refanged.replace(/^(https?)(?::\/|\/\/)(?=[^/])/i, '$1://');
  const absolute = /^[a-z][a-z0-9+.-]*:\/\//i.test(slashed) ? slashed : `http://${slashed}`;
  const url = URL.parse(absolute);
  if (!url || url.hostname === '') return undefined;
  url.hash = '';
  return url.href;
}

const hives: Record<string, string> = {
  HKLM: 'HKEY_LOCAL_MACHINE',
  HKCU: 'HKEY_CURRENT_USER',
  HKCR: 'HKEY_CLASSES_ROOT',
  HKU: 'HKEY_USERS',
  HKCC: 'HKEY_CURRENT_CONFIG',
};

export function normalizeRegistryKey(text: string): string | undefined {
  const [hive = '', ...path] = text
    .replaceAll(/\\{2,}/g, '\\')
    .replace(/^\\/, '')
    .replace(/\\$/, '')
    .split('\\');
  const name = hive.replace(/:$/, '').toUpperCase();
  return [ownValue(hives, name) ?? (name.startsWith('HKEY_') ? name : hive), ...path].join('\\').normalize('NFC');
}

const dot = String.raw`(?:\.|dot|punto|ponto|punkt|point)`;
const dots = new RegExp(
  String.raw`\s?(?:\[\s?${dot}\s?\]|\(\s?${dot}\s?\)|\{\s?${dot}\s?\}|<\s?${dot}\s?>)\s?|\\\.|\[\.|\.\]|&(?:#0*46|#x0*2e|period);|[\u2024\u3002\uFF0E]`,
  'gi',
);
const invisible = /[\u00AD\u200B-\u200D\u2060\uFEFF]/g;
/** A value in which every dot is written as a word. */
const spelledHost = /^[\w:/-]+(?: dot [\w-]+)+(?:[/:]\S*)?$/i;

/** Every defanged address has one of these signs, or begins like this. */
const marks = /[[\]({\\<&\u00AD\u200B-\u200D\u2024\u2060\u3002\uFEFF\uFF0E]| [Dd][Oo][Tt] |^(?!http)[HhFf][TtXx*]/;

/** Reverses the common notations of defanged addresses: `hxxp`, `[.]`, `(dot)`, ` dot `, `&#46;`, `[:]`, `[@]`, `[://]`. */
export function refang(text: string): string {
  const trimmed = text.trim();
  if (!marks.test(trimmed)) return trimmed;
  const plain = trimmed.replaceAll(invisible, '');
  return (spelledHost.test(plain) ? plain.replaceAll(/ dot /gi, '.') : plain)
    .replace(/^h(?:xx|\*\*|tt)p(s?)(?=[:[\]&])/i, 'http$1')
    .replace(/^fxp(?=[:[\]])/i, 'ftp')
    .replaceAll(/\[:\/\/\]|\[:\]\/\//g, '://')
    .replaceAll(/\[:\]|&(?:#0*58|#x0*3a|colon);(?=\/|&)/gi, ':')
    .replaceAll(/\[@\]|\[at\]|\(at\)/gi, '@')
    .replaceAll(/\[\/\]|&(?:#0*47|#x0*2f|sol);/gi, '/')
    .replaceAll(dots, '.');
}

/** A path or registry key as Windows writes it: its first part ends with a backslash. A command in quotation marks does not begin with one. */
const windowsPath = /^(?:[a-z]:\\|%[^%]+%\\|[^\s\\/:"'<>|]*\\)/i;

/** Returns whether a value is a registry key or a path of Windows, which does not distinguish case in them. */
export const isCaseInsensitive = (normalizedValue: string): boolean =>
  normalizedValue.includes('\\') && windowsPath.test(normalizedValue);

/**
 * Returns the text by which canonical values are compared. Registry keys and paths of Windows keep the case of their source as a value, and
 * are compared in lower case.
 */
export const toComparisonForm = (normalizedValue: string): string =>
  isCaseInsensitive(normalizedValue) ? normalizedValue.toLowerCase() : normalizedValue;

/** Returns the key by which values of several types are compared. */
export const toComparisonKey = ({ type, normalizedValue }: { type: string; normalizedValue: string }): string =>
  `${type} ${toComparisonForm(normalizedValue)}`;
