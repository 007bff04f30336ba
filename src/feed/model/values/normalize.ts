import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { ownValue } from '../../../platform/lib/json/json-values.ts';
import type { IndicatorType } from '../vocabulary.ts';
import { refang } from './refang.ts';

/** Returns the canonical form of a value, or undefined if it is not a valid value of the type (spec/feed.md, "Indicator.type"). */
export function normalizeValue(type: IndicatorType, value: string): string | undefined {
  const text = value.trim();
  return text === '' || text.length > 8_192 ? undefined : rules[type](text);
}

type Rule = (text: string) => string | undefined;

const matching =
  (pattern: RegExp, toForm = (text: string): string => text): Rule =>
  (text) =>
    pattern.test(toForm(text)) ? toForm(text) : undefined;
const toLower = (text: string): string => text.toLowerCase();
const hexDigits = (digits: number): Rule => matching(new RegExp(`^[0-9a-f]{${digits}}$`), toLower);
const certHash =
  (digits: number): Rule =>
  (text) =>
    hexDigits(digits)(text.replaceAll(/[:\s]/g, ''));
const uuid = matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, toLower);
const asIs: Rule = (text) => text.normalize('NFC');

const rules: Record<IndicatorType, Rule> = {
  ipv4: normalizeIpv4,
  ipv6: normalizeIpv6,
  domain: normalizeDomain,
  url: normalizeUrl,
  md5: hexDigits(32),
  sha1: hexDigits(40),
  sha256: hexDigits(64),
  sha512: hexDigits(128),
  imphash: hexDigits(32),
  ssdeep: matching(/^\d+:[A-Za-z0-9+/]*:[A-Za-z0-9+/]*(?:,.*)?$/),
  file_name: asIs,
  file_path: asIs,
  registry_key: normalizeRegistryKey,
  process_name: asIs,
  command_line: asIs,
  cert_sha1: certHash(40),
  cert_sha256: certHash(64),
  cert_serial: matching(/^[0-9a-f]{1,64}$/, (text) => text.replaceAll(/[:\s-]/g, '').toLowerCase()),
  aws_account: matching(/^\d{12}$/),
  aws_arn: matching(/^arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:\d{0,12}:.+$/),
  azure_tenant: uuid,
  azure_app: uuid,
  gcp_project: matching(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/),
  bucket: matching(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/),
  android_package: matching(/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/),
  ios_bundle: matching(/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/),
  imei: matching(/^\d{15}$/),
};

function normalizeIpv4(text: string): string | undefined {
  const address = refang(text).replace(/\/32$/, '');
  return isIPv4(address) ? address : undefined;
}

/** Follows RFC 5952: lower case, `::` for the longest run of zeros, and dotted notation for mapped IPv4 addresses. */
function normalizeIpv6(text: string): string | undefined {
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

function normalizeDomain(text: string): string | undefined {
  if (isPlainDomain(text)) return text;
  const ascii = domainToASCII(refang(text).replace(/\.$/, ''));
  if (ascii.length > 253 || isIPv4(ascii) || !/\.[^.]*[a-z][^.]*$/.test(ascii)) return undefined;
  return ascii.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? ascii : undefined;
}

/** Serializes by the URL standard: the host in lower-case ASCII, without a default port. The fragment is removed. */
function normalizeUrl(text: string): string | undefined {
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

function normalizeRegistryKey(text: string): string | undefined {
  const [hive = '', ...path] = text
    .replaceAll(/\\{2,}/g, '\\')
    .replace(/^\\/, '')
    .replace(/\\$/, '')
    .split('\\');
  const name = hive.replace(/:$/, '').toUpperCase();
  return [ownValue(hives, name) ?? (name.startsWith('HKEY_') ? name : hive), ...path].join('\\').normalize('NFC');
}
