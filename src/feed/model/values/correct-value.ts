import { isIPv4, isIPv6 } from 'node:net';
import { isPlainDomain, refang } from './normalize.ts';
import {
  findDigestType,
  indicatorTypes,
  isNetworkType,
  normalizeValue,
  type IndicatorType,
} from '../values/indicator-types.ts';

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
