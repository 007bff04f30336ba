import type { IndicatorType } from '../../model/vocabulary.ts';
import { ownValue } from '../../../platform/lib/json/json-values.ts';

/** Indicator types by object and relation, for attributes whose type alone is ambiguous. */
const indicators: Record<string, IndicatorType> = {
  'file path': 'file_path',
  'file fullpath': 'file_path',
  'process name': 'process_name',
  'process image': 'process_name',
  'process command-line': 'command_line',
  'command-line value': 'command_line',
  'registry-key key': 'registry_key',
  'x509 serial-number': 'cert_serial',
  'android-app appid': 'android_package',
  'android-app certificate': 'cert_sha1',
  'android-app certificate-sha256': 'cert_sha256',
  'phone imei': 'imei',
};

/** Relations whose values are a part of a file or belong to the owner of a host, with the type of their observable. */
const others: [RegExp, string][] = [
  [/^(?:pe|elf|macho)-section /, 'section-hash'],
  [/^pe richpe$/, 'richpe'],
  [/^pe (?:original|internal)-filename$/, 'original-filename'],
  [/ (?:nameserver|ns-record|mx-record|soa-record|dns-server)$/, 'name-server'],
  [/ (?:ptr-record|rdns|rdns_parent|reverse-dns|bailiwick)$/, 'reverse-name'],
];

/** The kind of threat that an attribute of an object names. */
const namedKinds: Record<string, 'malware' | 'actor'> = {
  'malware name': 'malware',
  'dga-domain malware-family': 'malware',
  'intrusion-set name': 'actor',
  'phishing-kit threat-actor': 'actor',
  'ransomware-group-post ransomware-group': 'actor',
};

/** Returns the kind of the name in an attribute of an object, or undefined if its value is no name. */
export const findNamedKind = (relation: string | undefined): 'malware' | 'actor' | undefined =>
  relation === undefined ? undefined : ownValue(namedKinds, relation);

/** Objects about a victim, and posts and publications about the threat, except for the links inside of them. */
const context =
  /^(?:victim|rogue-dns hijacked-domain|research-scanner) ?|^(?:blog|microblog|news-(?:agency|media)|publication|report|(?:twitter|facebook|instagram|reddit|parler|youtube)-[a-z-]+) (?!embedded-link$)/;

/** The meaning of an object's attribute: an indicator, another observable, or context, which only the text contains. */
export type RelationKind = { type: IndicatorType } | { framework: string } | 'context';

/** Returns the type of an attribute by its object and relation, such as `pe-section md5`. Undefined if the attribute's own type determines it. */
export function findRelationKind(relation: string): RelationKind | undefined {
  const type = ownValue(indicators, relation);
  if (type) return { type };
  const other = others.find(([pattern]) => pattern.test(relation))?.[1];
  if (other) return { framework: `observable:${other}` };
  return context.test(relation) ? 'context' : undefined;
}
