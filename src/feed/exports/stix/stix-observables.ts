import type { Indicator } from '../../model/item.schema.ts';
import { observableNamespace, uuidv5, type StixObject } from './stix-object.ts';

/** The type of an observable and the properties from which its id is derived. */
const byType: Record<string, (value: string) => [type: string, properties: Record<string, unknown>] | undefined> = {
  ipv4: (value) => ['ipv4-addr', { value }],
  ipv6: (value) => ['ipv6-addr', { value }],
  domain: (value) => ['domain-name', { value }],
  url: (value) => ['url', { value }],
  cidr: (value) => [value.includes(':') ? 'ipv6-addr' : 'ipv4-addr', { value }],
  email: (value) => ['email-addr', { value }],
  'email-src': (value) => ['email-addr', { value }],
  mac: (value) => ['mac-addr', { value }],
  mutex: (name) => ['mutex', { name }],
  md5: (value) => ['file', { hashes: { MD5: value } }],
  sha1: (value) => ['file', { hashes: { 'SHA-1': value } }],
  sha256: (value) => ['file', { hashes: { 'SHA-256': value } }],
  sha512: (value) => ['file', { hashes: { 'SHA-512': value } }],
  ssdeep: (value) => ['file', { hashes: { SSDEEP: value } }],
  file_name: (name) => ['file', { name }],
  // The hive must be spelled out (STIX 2.1, section 6.17). `(HKLM|HKCU)\\Run` is a search pattern and not a key.
  registry_key: (key) => (key.startsWith('HKEY_') ? ['windows-registry-key', { key }] : undefined),
  cert_sha1: (value) => ['x509-certificate', { hashes: { 'SHA-1': value } }],
  cert_sha256: (value) => ['x509-certificate', { hashes: { 'SHA-256': value } }],
  cert_serial: (value) => ['x509-certificate', { serial_number: value }],
};

/**
 * Returns the observable of a value with the standard's deterministic id: a UUIDv5 over the canonical JSON (RFC 8785) of the contributing
 * properties. Returns undefined if STIX has no such object, or none whose id follows from the value.
 */
export function toObservable(indicator: Pick<Indicator, 'type' | 'normalizedValue'>): StixObject | undefined {
  const found = byType[indicator.type]?.(indicator.normalizedValue);
  if (!found) return undefined;
  const [type, properties] = found;
  // An object with a single property is canonical JSON already.
  const id = uuidv5(observableNamespace, JSON.stringify(properties));
  return { type, spec_version: '2.1', id: `${type}--${id}`, ...properties };
}

/** Returns the value of an object that `toObservable` returned. */
export function toObservableValue({ value, name, key, serial_number: serial, hashes }: StixObject): string {
  return String(value ?? name ?? key ?? serial ?? Object.values(hashes as Record<string, string>)[0]);
}
