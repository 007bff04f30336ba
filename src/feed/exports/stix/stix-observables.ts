import type { Indicator } from '../../model/item.schema.ts';
import { observableNamespace, uuidv5, type StixObject } from './stix-object.ts';

/** The properties of an observable from which its id is derived. */
type IdContributor = { type: string; properties: Record<string, unknown> };

const contributor = (type: string, properties: Record<string, unknown>): IdContributor => ({ type, properties });
const byType: Record<string, (value: string) => IdContributor | undefined> = {
  ipv4: (value) => contributor('ipv4-addr', { value }),
  ipv6: (value) => contributor('ipv6-addr', { value }),
  domain: (value) => contributor('domain-name', { value }),
  url: (value) => contributor('url', { value }),
  md5: (value) => contributor('file', { hashes: { MD5: value } }),
  sha1: (value) => contributor('file', { hashes: { 'SHA-1': value } }),
  sha256: (value) => contributor('file', { hashes: { 'SHA-256': value } }),
  sha512: (value) => contributor('file', { hashes: { 'SHA-512': value } }),
  ssdeep: (value) => contributor('file', { hashes: { SSDEEP: value } }),
  file_name: (name) => contributor('file', { name }),
  // The hive must be spelled out (STIX 2.1, section 6.17). `(HKLM|HKCU)\\Run` is a search pattern and not a key.
  registry_key: (key) => (key.startsWith('HKEY_') ? contributor('windows-registry-key', { key }) : undefined),
  cert_sha1: (value) => contributor('x509-certificate', { hashes: { 'SHA-1': value } }),
  cert_sha256: (value) => contributor('x509-certificate', { hashes: { 'SHA-256': value } }),
  cert_serial: (value) => contributor('x509-certificate', { serial_number: value }),
};

/**
 * Returns the observable of a value with the standard's deterministic id: a UUIDv5 over the canonical JSON (RFC 8785) of the contributing
 * properties. Returns undefined if STIX has no such object, or none whose id follows from the value.
 */
export function toObservable({
  type,
  normalizedValue,
}: Pick<Indicator, 'type' | 'normalizedValue'>): StixObject | undefined {
  const found = byType[type]?.(normalizedValue);
  if (!found) return undefined;
  // An object with a single property is canonical JSON already.
  const id = uuidv5(observableNamespace, JSON.stringify(found.properties));
  return { type: found.type, spec_version: '2.1', id: `${found.type}--${id}`, ...found.properties };
}
