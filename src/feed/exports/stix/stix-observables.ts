import type { Indicator } from '../../model/item.schema.ts';
import { observableNamespace, uuidv5, type StixObject } from './stix-object.ts';

type Contributing = { type: string; properties: Record<string, unknown> };

const of = (type: string, properties: Record<string, unknown>): Contributing => ({ type, properties });
const byType: Record<string, (value: string) => Contributing | undefined> = {
  ipv4: (value) => of('ipv4-addr', { value }),
  ipv6: (value) => of('ipv6-addr', { value }),
  domain: (value) => of('domain-name', { value }),
  url: (value) => of('url', { value }),
  md5: (value) => of('file', { hashes: { MD5: value } }),
  sha1: (value) => of('file', { hashes: { 'SHA-1': value } }),
  sha256: (value) => of('file', { hashes: { 'SHA-256': value } }),
  sha512: (value) => of('file', { hashes: { 'SHA-512': value } }),
  ssdeep: (value) => of('file', { hashes: { SSDEEP: value } }),
  file_name: (name) => of('file', { name }),
  // With its hive in full (STIX 2.1, section 6.17): `(HKLM|HKCU)\\Run` looks for keys and is none.
  registry_key: (key) => (key.startsWith('HKEY_') ? of('windows-registry-key', { key }) : undefined),
  cert_sha1: (value) => of('x509-certificate', { hashes: { 'SHA-1': value } }),
  cert_sha256: (value) => of('x509-certificate', { hashes: { 'SHA-256': value } }),
  cert_serial: (value) => of('x509-certificate', { serial_number: value }),
};

/**
 * The observable that a value is, with the standard's id: a UUIDv5 over the canonical JSON (RFC 8785) of what identifies it, which here is
 * all that it has. Undefined where the standard has no such object, or none whose id follows from the value.
 */
export function observableOf({
  type,
  normalizedValue,
}: Pick<Indicator, 'type' | 'normalizedValue'>): StixObject | undefined {
  const made = byType[type]?.(normalizedValue);
  if (!made) return undefined;
  // One property of one value: its JSON is canonical as it is.
  const id = uuidv5(observableNamespace, JSON.stringify(made.properties));
  return { type: made.type, spec_version: '2.1', id: `${made.type}--${id}`, ...made.properties };
}
