import { ownValue } from '../../../platform/lib/json/json-values.ts';
import { bucketByType, type IndicatorType } from '../../model/vocabulary.ts';
import { findRelationKind } from './misp-relations.ts';
import {
  createAddressObservable,
  createObservable,
  listAddressObservables,
  type Observable,
} from '../../extraction/observable.ts';

/** Indicator types by MISP attribute type. */
const indicatorTypes: Record<string, IndicatorType> = {
  domain: 'domain',
  hostname: 'domain',
  url: 'url',
  md5: 'md5',
  sha1: 'sha1',
  sha256: 'sha256',
  sha512: 'sha512',
  ssdeep: 'ssdeep',
  imphash: 'imphash',
  filename: 'file_name',
  'email-attachment': 'file_name',
  regkey: 'registry_key',
  'x509-fingerprint-sha1': 'cert_sha1',
  'x509-fingerprint-sha256': 'cert_sha256',
  'mobile-application-id': 'android_package',
  'process-name': 'process_name',
};

const addresses = new Set(['ip-src', 'ip-dst', 'ip']);

/** Attribute types that describe but do not identify. Their values appear only in the text. */
const descriptions = new Set(
  `text comment other datetime date counter boolean float integer hex port size-in-bytes mime-type link attachment
  anonymised target-user target-org target-location target-machine target-external target-email vulnerability weakness
  cpe gender nationality first-name last-name full-name date-of-birth place-of-birth compilation-timestamp`.split(
    /\s+/,
  ),
);

/** Composite types whose second half is an indicator too. Of other types (ports, registry data), only the first half is used. */
const composite = /^(filename|malware-sample)\|?([a-z0-9-]+)?$/;

/** Attribute types with values of several indicator types. */
const ambiguousTypes = new Set(['text', 'filename', 'mobile-application-id']);

/** Returns the indicator type that the comment of an attribute states, as in the exports of this program (`aws_account`). */
export const findNotedType = (type: string, comment: string | undefined): IndicatorType | undefined =>
  comment !== undefined && ambiguousTypes.has(type) && Object.hasOwn(bucketByType, comment)
    ? (comment as IndicatorType)
    : undefined;

/** Returns the indicators and other observables of an attribute. `relation` is `<object> <relation>` for an attribute of an object. */
export function toObservables(type: string, value: string, relation: string | undefined): Observable[] {
  const [first = '', second] = type.includes('|') || type === 'malware-sample' ? value.split('|', 2) : [value];
  const known = relation === undefined ? undefined : findRelationKind(relation);
  if (known === 'context') return [];
  if (known && 'type' in known) return [createObservable(known.type, value)];
  if (descriptions.has(type) || value.trim() === '') return [];
  if (known) return [{ kind: 'other', framework: known.framework, value }];
  const isFile = composite.exec(type);
  if (isFile && (type.includes('|') || type === 'malware-sample')) {
    const hash = isFile[1] === 'malware-sample' ? 'md5' : isFile[2]!;
    return [createObservable('file_name', first), ...(second ? [toObservable(hash, second)] : [])];
  }
  if (type === 'domain|ip')
    return [createObservable('domain', first), ...(second ? [createAddressObservable(second, 'ip')] : [])];
  if (type === 'regkey|value')
    return [createObservable('registry_key', first), ...(second ? [toObservable('registry-value', second)] : [])];
  if (type.includes('|')) return [toObservable(type.split('|')[0]!, first)];
  if (addresses.has(type)) return listAddressObservables(value, type);
  return [toObservable(type, value)];
}

function toObservable(type: string, value: string): Observable {
  const known = ownValue(indicatorTypes, type);
  if (known) return createObservable(known, value);
  if (addresses.has(type)) return createAddressObservable(value, type);
  // A path on a host is not a complete address.
  if (type === 'uri' && /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return createObservable('url', value);
  return { kind: 'other', framework: `observable:${type.slice(0, 60)}`, value };
}
