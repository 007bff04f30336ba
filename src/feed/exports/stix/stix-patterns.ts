import type { Indicator } from '../../model/item.schema.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';

const hashNames: Partial<Record<IndicatorType, string>> = {
  md5: 'MD5',
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha512: 'SHA-512',
  ssdeep: 'SSDEEP',
  imphash: 'IMPHASH',
  cert_sha1: 'SHA-1',
  cert_sha256: 'SHA-256',
};

/** Object path by type; what the standard has no object for is looked for in an object of our own. */
const pathByType: Partial<Record<IndicatorType, string>> = {
  ipv4: 'ipv4-addr:value',
  ipv6: 'ipv6-addr:value',
  domain: 'domain-name:value',
  url: 'url:value',
  file_name: 'file:name',
  registry_key: 'windows-registry-key:key',
  process_name: 'process:image_ref.name',
  command_line: 'process:command_line',
  cert_serial: 'x509-certificate:serial_number',
};

/** A string of a pattern (STIX 2.1, section 9.6). */
export const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

/** The observation expression that looks for a value (STIX 2.1, section 9). */
export function patternOf({ type, normalizedValue: value }: Pick<Indicator, 'type' | 'normalizedValue'>): string {
  const kind = type as IndicatorType;
  const hash = hashNames[kind];
  if (hash) return `[${kind.startsWith('cert_') ? 'x509-certificate' : 'file'}:hashes.'${hash}' = ${quoted(value)}]`;
  if (kind === 'file_path') {
    const { directory, name } = splitPath(value);
    if (directory !== '' && name !== '')
      return `[file:name = ${quoted(name)} AND file:parent_directory_ref.path = ${quoted(directory)}]`;
    return `[directory:path = ${quoted(value)}]`;
  }
  return `[${pathByType[kind] ?? `x-tocsin:${kind}`} = ${quoted(value)}]`;
}

/** A path in its directory and name; a path that ends in a separator is a directory. */
function splitPath(path: string): { directory: string; name: string } {
  const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return { directory: path.slice(0, at), name: path.slice(at + 1) };
}
