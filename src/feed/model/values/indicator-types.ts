import { cloudTypes } from './cloud-types.ts';
import { fileTypes } from './file-types.ts';
import { hostTypes, networkTypes } from './host-types.ts';
import type { IndicatorTypeDescriptor } from './indicator-type.ts';

/** Every type of indicators by name. */
export const indicatorTypes = { ...networkTypes, ...fileTypes, ...hostTypes, ...cloudTypes };
export type IndicatorType = keyof typeof indicatorTypes;

/** The types in the order of the registry. */
export const typeEntries = Object.entries(indicatorTypes) as [IndicatorType, IndicatorTypeDescriptor][];

export const isIndicatorType = (name: string): name is IndicatorType => Object.hasOwn(indicatorTypes, name);

/** Returns the canonical form of a value, or undefined if it is not a valid value of the type. */
export function normalizeValue(type: IndicatorType, value: string): string | undefined {
  const text = value.trim();
  return text === '' || text.length > 8_192 ? undefined : indicatorTypes[type].normalize(text);
}

/** Returns the type by any of the keys that `list` returns for it. */
export const indexTypes = (
  list: (descriptor: IndicatorTypeDescriptor) => readonly string[],
): Record<string, IndicatorType> =>
  Object.fromEntries(typeEntries.flatMap(([type, descriptor]) => list(descriptor).map((key) => [key, type])));

const typeByDigits = indexTypes(({ digestDigits }) => (digestDigits === null ? [] : [String(digestDigits)]));

/** Returns the type of a hash by its digits, or undefined for any other text. */
export const findDigestType = (text: string): IndicatorType | undefined =>
  /^[0-9a-f]+$/i.test(text) ? typeByDigits[text.length] : undefined;

/** Returns whether values of a type are addresses, domains or URLs. */
export const isNetworkType = (type: string): boolean =>
  isIndicatorType(type) && ['address', 'domain', 'url'].includes(indicatorTypes[type].logField ?? '');
