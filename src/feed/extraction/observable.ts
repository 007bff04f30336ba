import { isIPv4, isIPv6 } from 'node:net';
import type { IndicatorType } from '../model/vocabulary.ts';
import { normalizeValue } from '../model/normalize.ts';
import { refang } from '../model/refang.ts';

/** A value that a source states: an indicator, or a value of a type without an indicator bucket (`other`). */
export type Observable =
  | { kind: 'indicator'; type: IndicatorType; value: string; normalizedValue: string }
  | { kind: 'other'; framework: string; value: string };

/** Creates an indicator of a type, or an `observable:<type>` if the value is not valid for that type. */
export function createObservable(type: IndicatorType, value: string): Observable {
  const normalizedValue = normalizeValue(type, value);
  if (normalizedValue !== undefined) return { kind: 'indicator', type, value, normalizedValue };
  const isRange = (type === 'ipv4' || type === 'ipv6') && /\/\d+$/.test(value.trim());
  return { kind: 'other', framework: `observable:${isRange ? 'cidr' : type.replaceAll('_', '-')}`, value };
}

/** Creates the observable of an address and derives its type from its form. */
export function createAddressObservable(value: string): Observable {
  const clear = refang(value).replace(/\/\d{1,3}$/, '');
  if (isIPv4(clear)) return createObservable('ipv4', value);
  if (isIPv6(clear)) return createObservable('ipv6', value);
  if (clear.includes('@')) return { kind: 'other', framework: 'observable:email', value };
  return createObservable('domain', value);
}
