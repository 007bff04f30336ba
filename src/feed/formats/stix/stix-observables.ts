import { ownValue, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { createObservable, createAddressObservable, type Observable } from '../../extraction/observable.ts';
import { toObservables } from '../misp/misp-attributes.ts';
import { readTextField, type StixSourceObject } from './stix-objects.ts';
import { indexTypes } from '../../model/values/indicator-types.ts';

/** Indicator types by object and property path. Steps are joined by dots, without indexes, and names of hashes are normalized. */
const typeByPath = indexTypes(({ stix: { object, path, readFrom } }) => [
  `${object}:${path[0] === 'hashes' ? `hashes.${normalizeHashName(path[1]!)}` : path.join('.')}`,
  ...readFrom,
]);

/** Types of other observables (`observable:<type>`) by object and property path. */
const otherByPath: Record<string, string> = {
  'email-addr:value': 'email',
  'email-message:subject': 'email-subject',
  'autonomous-system:number': 'asn',
  'mutex:name': 'mutex',
  'mac-addr:value': 'mac',
  'software:name': 'software',
  'cryptocurrency-wallet:value': 'cryptocurrency-wallet',
  'x-opencti-cryptocurrency-wallet:value': 'cryptocurrency-wallet',
  'user-agent:value': 'user-agent',
  'x-opencti-user-agent:value': 'user-agent',
  'phone-number:value': 'phone-number',
  'bank-account:iban': 'iban',
  'configuration-profile:id': 'configuration-profile',
  'user-account:user_id': 'user-account',
  'user-account:account_login': 'user-account',
  'windows-registry-key:values.name': 'registry-value',
  'windows-registry-key:values.data': 'registry-value',
};

/**
 * Classifies a property of an observed object. Returns undefined for a property that does not identify anything, such as a size or a port.
 * `steps` are those of a pattern's object path.
 */
export function classifyProperty(object: string, steps: string[], value: string): Observable | undefined {
  const names = steps.filter((step) => !step.startsWith('['));
  const [last = '', before = ''] = [names.at(-1), names.at(-2)];
  const isCertificate = object === 'x509-certificate' || object === 'app';
  if (before === 'hashes' && names.includes('sections'))
    return { kind: 'other', framework: 'observable:pe-section-hash', value };
  if (before === 'hashes' && !isCertificate) return toHashObservable(normalizeHashName(last), value);
  if (/^x?_?imphash$/i.test(last)) return toHashObservable('IMPHASH', value);
  if (last === 'value' && before !== '')
    return before.endsWith('_ref') || before.endsWith('_refs') ? createAddressObservable(value) : undefined;
  const path = `${object}:${names.map((step) => (before === 'hashes' && step === last ? normalizeHashName(step) : step)).join('.')}`;
  const type = ownValue(typeByPath, path);
  if (type) return createObservable(type, value);
  const otherType = ownValue(otherByPath, path);
  if (otherType) return { kind: 'other', framework: `observable:${otherType}`, value };
  if (isCertificate && before === 'hashes') return { kind: 'other', framework: 'observable:certificate-hash', value };
  if (last === 'User-Agent') return { kind: 'other', framework: 'observable:user-agent', value };
  if (value.startsWith('arn:aws')) return createObservable('aws_arn', value);
  return undefined;
}

function toHashObservable(name: string, value: string): Observable {
  const type = ownValue(typeByPath, `file:hashes.${name}`);
  return type ? createObservable(type, value) : { kind: 'other', framework: `observable:${name.toLowerCase()}`, value };
}

/** Unifies `SHA-256`, `sha256` and `SHA_256`. SHA-3 names remain distinct (`SHA3-256`). */
function normalizeHashName(name: string): string {
  const plain = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return /^SHA3\d+$/.test(plain) && !/^SHA384$/.test(plain) ? `SHA3-${plain.slice(4)}` : plain;
}

/**
 * Returns whether an object is a custom one of MISP, which exports attributes without a STIX type as such objects. Many vendors publish
 * them.
 */
export const isMispMember = ({ type }: StixSourceObject): boolean =>
  type === 'x-misp-attribute' || type === 'x-misp-object';

/** Returns the observables of a `x-misp-attribute` or `x-misp-object`. */
export function readMispValues(object: StixSourceObject): Observable[] {
  if (object.type === 'x-misp-attribute')
    return toValues(readTextField(object, 'x_misp_type'), readTextField(object, 'x_misp_value'), undefined);
  const name = readTextField(object, 'x_misp_name');
  return asObjects(object['x_misp_attributes']).flatMap((attribute: JsonObject) =>
    toValues(
      asText(attribute['type']) ?? '',
      asText(attribute['value']) ?? '',
      `${name} ${asText(attribute['object_relation']) ?? ''}`,
    ),
  );
}

/** An actor is a name, not an observable. */
const toValues = (type: string, value: string, relation: string | undefined): Observable[] =>
  type === '' || type === 'threat-actor' ? [] : toObservables(type, value, relation);

/** Returns the actor that a `x-misp-attribute` names. */
export const findMispActor = (object: StixSourceObject): string | undefined =>
  object.type === 'x-misp-attribute' && object['x_misp_type'] === 'threat-actor'
    ? asText(object['x_misp_value'])
    : undefined;

const contextLabel = /^misp:category="(?:Targeting data|Internal reference|Support Tool|Person)"$/;
const analysisLabel = 'misp:category="External analysis"';

const attachmentLabel = 'misp:type="attachment"';

/**
 * Returns whether an attribute of MISP is not meant for detection: the address of an analysis, an attached file, the victim, or a reference of
 * the analysts.
 */
export function isMispContext(object: StixSourceObject): boolean {
  const labels = asTexts(object['labels']);
  if (labels.some((label) => /^misp:to_ids="true"$/i.test(label))) return false;
  const isLink = labels.some((label) => /^misp:type="(?:url|link|uri)"$/.test(label));
  const isAnalysis = isLink && labels.includes(analysisLabel);
  return isAnalysis || labels.some((label) => label === attachmentLabel || contextLabel.test(label));
}
