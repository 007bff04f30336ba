import { normalizeValue } from './normalize.ts';
import { refang } from './refang.ts';
import { termValue } from './terms.ts';
import { bucketByType, type IndicatorType } from './vocabulary.ts';

const types = Object.keys(bucketByType) as IndicatorType[];

/** Every canonical form that a value in any writing may stand for, as `item_terms` holds it: what one is known as depends on its type. */
export function indicatorForms(value: string): string[] {
  const forms = types.flatMap((type) => normalizeValue(type, value) ?? []);
  return [...new Set(forms)].map((form) => termValue('indicator', form));
}

/** Words to look for, with disguised addresses made clear; quotes and signs around them stay. */
export function refangWords(text: string): string {
  return text.replaceAll(/[^\s"]+/g, (word) => refang(word));
}
