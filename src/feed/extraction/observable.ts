import { parseAddressRange, parseNetwork } from '../model/values/networks.ts';
import { correctValue } from '../model/values/indicator-forms.ts';
import { refang } from '../model/values/normalize.ts';
import { normalizeValue, type IndicatorType } from '../model/values/indicator-types.ts';

/** An indicator of a source. `correction` explains how it differs from what the source states. */
export type IndicatorObservable = {
  kind: 'indicator';
  type: IndicatorType;
  value: string;
  normalizedValue: string;
  correction?: string;
};

/** A value that a source states: an indicator, or a value of a type without an indicator bucket (`other`). */
export type Observable = IndicatorObservable | { kind: 'other'; framework: string; value: string };

/** Returns the id of the mapping of a value without an indicator bucket. Mail addresses are refanged, like in texts. */
export const toMappingId = ({ framework, value }: { framework: string; value: string }): string =>
  framework === 'observable:email' ? refang(value) : value;

/** Creates an indicator of a type, or of the type that the value has by its form, or an `observable:<type>` if it is not valid for either. */
export function createObservable(type: IndicatorType, value: string): Observable {
  const corrected = correctValue(type, value);
  if (corrected) return { kind: 'indicator', value, ...corrected };
  const normalizedValue = normalizeValue(type, value);
  if (normalizedValue !== undefined) return { kind: 'indicator', type, value, normalizedValue };
  const isNetwork = parseNetwork(value) !== undefined;
  return { kind: 'other', framework: `observable:${isNetwork ? 'cidr' : type.replaceAll('_', '-')}`, value };
}

/** Creates the observables of an address or, for a range such as `192.0.2.0-192.0.2.255`, of the networks that it consists of. */
export const listAddressObservables = (value: string, stated?: string): Observable[] =>
  listRangeObservables(value) ?? [createAddressObservable(value, stated)];

/** Creates the observables of a range of addresses. Returns undefined for other text. */
export function listRangeObservables(value: string): Observable[] | undefined {
  return parseAddressRange(value)?.map((network): Observable => {
    const observable = createAddressObservable(network);
    return observable.kind === 'other' ? observable : { ...observable, value, correction: 'one address of a range' };
  });
}

/** Damaged text may contain the sign as well. */
const mailAddress = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]+@[\p{L}\p{N}_.-]+$/u;

/**
 * Creates the observable of an address and derives its type from its form. `stated` is the source's type, such as `ip-dst`, if it allows only IP
 * addresses.
 */
export function createAddressObservable(value: string, stated?: string): Observable {
  const found = correctValue('address', value);
  if (found) {
    const observable: Observable = { kind: 'indicator', value, ...found };
    if (stated === undefined || found.type === 'ipv4' || found.type === 'ipv6') return observable;
    return { ...observable, correction: [`stated as ${stated}`, found.correction ?? []].flat().join(', ') };
  }
  if (mailAddress.test(refang(value))) return { kind: 'other', framework: 'observable:email', value };
  const observable = createObservable('domain', value);
  const isOther = observable.kind === 'other' && observable.framework === 'observable:domain';
  return isOther && stated !== undefined ? { ...observable, framework: `observable:${stated}` } : observable;
}
