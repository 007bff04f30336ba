import { correctValue } from './correct-value.ts';
import { normalizeValue } from './normalize.ts';
import { refang } from './refang.ts';
import { toTermValue } from './terms.ts';
import { bucketByType, type IndicatorType } from './vocabulary.ts';

// Most likely first. A value that is valid for one of these types has that type. Other types, such as file names, accept almost any text.
const strictTypes: IndicatorType[] = ['ipv4', 'ipv6', 'md5', 'sha1', 'sha256', 'sha512', 'domain'];
const otherTypes = (Object.keys(bucketByType) as IndicatorType[]).filter((type) => !strictTypes.includes(type));

export type CanonicalForm = { type: IndicatorType; form: string; isStrict: boolean };

/** Returns the canonical forms of a value in any notation, one for each type that it may have. */
export function canonicalForms(value: string): CanonicalForm[] {
  const isUrl = /^\w+:\/\//.test(refang(value));
  const forms = [...strictTypes, ...otherTypes].flatMap((type) => {
    const form = normalizeValue(type, value);
    return form === undefined
      ? []
      : [{ type, form, isStrict: strictTypes.includes(type) || (type === 'url' && isUrl) }];
  });
  if (isUrl) return [...forms, ...hostForms(forms)];
  // `192.0.2.1:8080` is stored as its address.
  const host = correctValue('address', value);
  const isKnown = !host || forms.some(({ type, form }) => type === host.type && form === host.normalizedValue);
  return isKnown ? forms : [{ type: host.type, form: host.normalizedValue, isStrict: true }, ...forms];
}

/** Returns the host of a URL that has nothing else, because sources state a host as such a URL and the other way round. */
function hostForms(forms: CanonicalForm[]): CanonicalForm[] {
  const url = forms.find(({ type }) => type === 'url')?.form;
  const host = url && /^[a-z][a-z0-9+.-]*:\/\/(\[[^\]]+\]|[^/?#@:]+)(?::\d+)?\/?$/.exec(url)?.[1];
  const corrected = host ? correctValue('address', host) : undefined;
  return corrected ? [{ type: corrected.type, form: corrected.normalizedValue, isStrict: false }] : [];
}

/** Returns the distinct canonical forms of a value as they are stored in `item_terms`. */
export const indicatorForms = (value: string): string[] => [
  ...new Set(canonicalForms(value).map(({ form }) => toTermValue('indicator', form))),
];

/** Refangs each word of a text, and keeps the quotes and signs around it. */
export function refangText(text: string): string {
  return text.replaceAll(/[^\s"]+/g, (word) => refang(word));
}
