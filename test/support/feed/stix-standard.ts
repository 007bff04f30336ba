import { parsePattern } from '../../../src/feed/formats/stix/pattern.ts';

type Stix = Record<string, unknown>;

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const time = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?Z$/;
const common =
  'type spec_version id created_by_ref created modified revoked labels confidence lang external_references object_marking_refs extensions';

/** Required and optional properties of the exported types (STIX 2.1, sections 4 to 7). */
const shapes: Record<string, [required: string, further: string]> = {
  report: ['name published object_refs', 'description report_types'],
  indicator: ['pattern pattern_type valid_from', 'name description indicator_types pattern_version valid_until'],
  vulnerability: ['name', 'description'],
  malware: ['is_family', 'name aliases'],
  tool: ['name', 'aliases'],
  'intrusion-set': ['name', 'aliases'],
  'attack-pattern': ['name', 'aliases'],
  identity: ['name', 'identity_class sectors'],
  location: ['country', 'name'],
  relationship: ['relationship_type source_ref target_ref', 'description'],
  'ipv4-addr': ['value', ''],
  'ipv6-addr': ['value', ''],
  'domain-name': ['value', ''],
  url: ['value', ''],
  'email-addr': ['value', ''],
  'mac-addr': ['value', ''],
  mutex: ['name', ''],
  file: ['', 'hashes name'],
  'windows-registry-key': ['key', ''],
  'x509-certificate': ['', 'hashes serial_number'],
  'marking-definition': ['extensions', 'name'],
};
const words = (text: string): string[] => text.split(' ').filter(Boolean);
const observables = new Set(
  words('ipv4-addr ipv6-addr domain-name url email-addr mac-addr mutex file windows-registry-key x509-certificate'),
);

/** Returns the violations of the standard. The list must include all objects that the objects refer to. Checks the text of the standard, not a schema. */
export function listStixViolations(objects: Stix[]): string[] {
  const ids = new Set(objects.map(({ id }) => id));
  return objects.flatMap((object) => faultsOfOne(object, ids).map((fault) => `${String(object['id'])}: ${fault}`));
}

function faultsOfOne(object: Stix, ids: Set<unknown>): string[] {
  const type = String(object['type']);
  const shape = shapes[type];
  if (!shape) return ['an unknown type'];
  const faults: string[] = [];
  const must = (holds: boolean, fault: string): unknown => holds || faults.push(fault);
  must(new RegExp(`^${type}--${uuid}$`).test(String(object['id'])), 'id');
  must(object['spec_version'] === '2.1', 'spec_version');
  const isObservable = observables.has(type);
  const needed = [
    ...words(shape[0]),
    ...(isObservable ? [] : type === 'marking-definition' ? ['created'] : ['created', 'modified']),
  ];
  for (const name of needed) must(object[name] !== undefined, `${name} is missing`);
  const allowed = new Set([...words(shape[0]), ...words(shape[1]), ...words(common)]);
  for (const [name, value] of Object.entries(object)) {
    must(allowed.has(name), `${name} is no property of it`);
    must(value !== null && value !== '' && !(Array.isArray(value) && value.length === 0), `${name} is empty`);
    if (/_refs?$/.test(name))
      for (const ref of [value].flat()) must(ids.has(ref), `${name}: ${String(ref)} is not there`);
    if (/^(created|modified|published|valid_from|valid_until)$/.test(name)) must(time.test(String(value)), name);
    if (Array.isArray(value) && name !== 'external_references')
      must(new Set(value).size === value.length, `${name} repeats`);
  }
  if (isObservable) {
    must(object['created'] === undefined && object['object_marking_refs'] === undefined, 'more than its value');
    must(Object.keys(object).length > 3, 'no value');
  }
  must(!(String(object['modified']) < String(object['created'])), 'modified before created');
  if (object['valid_until']) must(String(object['valid_until']) > String(object['valid_from']), 'valid_until');
  const confidence = object['confidence'] ?? 0;
  must(Number.isInteger(confidence) && Number(confidence) >= 0 && Number(confidence) <= 100, 'confidence');
  if (object['lang']) must(/^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$/.test(String(object['lang'])), 'lang');
  for (const reference of (object['external_references'] ?? []) as Stix[])
    must(isReference(reference), 'external_references');
  if (type === 'windows-registry-key') must(String(object['key']).startsWith('HKEY_'), 'key');
  if (type === 'indicator') {
    try {
      parsePattern(String(object['pattern']));
    } catch {
      faults.push(`pattern ${String(object['pattern'])}`);
    }
  }
  return faults;
}

const numberOf: Record<string, RegExp> = { cve: /^CVE-\d{4}-\d{4,}$/, capec: /^CAPEC-\d+$/ };

/** Checks an external reference: it has a source with a URL, description or id, and a CVE or CAPEC id only under its own source (section 2.5). */
function isReference({ source_name: source, url, external_id: id }: Stix): boolean {
  const owner = Object.keys(numberOf).find((name) => typeof id === 'string' && numberOf[name]!.test(id));
  const isNumbered = source === 'cve' || source === 'capec' || owner !== undefined;
  return Boolean(source && (url ?? id)) && (!isNumbered || source === owner);
}
