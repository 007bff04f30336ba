import { normalizeValue } from './normalize.ts';
import { refang } from './refang.ts';
import { termValue } from './terms.ts';
import { bucketByType, type IndicatorType } from './vocabulary.ts';

// The likeliest first. What has any form at all, such as a file's name, says nothing about what a value is.
const strict: IndicatorType[] = ['ipv4', 'ipv6', 'md5', 'sha1', 'sha256', 'sha512', 'domain'];
const others = (Object.keys(bucketByType) as IndicatorType[]).filter((type) => !strict.includes(type));

export type Form = { type: IndicatorType; form: string; isStrict: boolean };

/** Every canonical form that a value in any writing may stand for: what it is known as depends on its type. */
export function canonicalForms(value: string): Form[] {
  const isUrl = /^\w+:\/\//.test(refang(value));
  return [...strict, ...others].flatMap((type) => {
    const form = normalizeValue(type, value);
    return form === undefined ? [] : [{ type, form, isStrict: strict.includes(type) || (type === 'url' && isUrl) }];
  });
}

/** The forms as `item_terms` holds them, each once. */
export const indicatorForms = (value: string): string[] => [
  ...new Set(canonicalForms(value).map(({ form }) => termValue('indicator', form))),
];

/** Words to look for, with disguised addresses made clear; quotes and signs around them stay. */
export function refangWords(text: string): string {
  return text.replaceAll(/[^\s"]+/g, (word) => refang(word));
}
