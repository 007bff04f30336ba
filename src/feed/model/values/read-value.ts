import { isIPv6 } from 'node:net';
import { correctValue } from './correct-value.ts';
import { refang } from './refang.ts';

/** A value without what people write around it. `corrections` say what was removed. */
export type UnwrappedValue = { text: string; corrections: string[] };

type Removal = { correction: string; remove: (text: string) => string };

const quotes = '["\'`“”‘’«»]';
const label =
  /^(?:md5|sha-?1|sha-?256|sha-?512|imphash|ssdeep|ip|ipv4|ipv6|domain|host(?:name)?|url|e-?mail|mailto)\s*[:=]\s*(?=[^\s/])/i;

const removals: Removal[] = [
  {
    correction: 'quotation marks removed',
    remove: (text) => text.replace(new RegExp(`^${quotes}+(?=.)|(?<=.)${quotes}+$`, 'gu'), ''),
  },
  { correction: 'brackets removed', remove: removeBrackets },
  { correction: 'punctuation removed', remove: (text) => text.replace(/(?<=.)[,;.]+$/, '') },
  { correction: 'label removed', remove: (text) => text.replace(label, '') },
];

/** Removes what texts and tickets have around a value: quotation marks, brackets, a comma after it, and a label such as `sha256:`. */
export function unwrapValue(value: string): UnwrappedValue {
  const corrections = new Set<string>();
  let text = value.trim();
  const unwrap = (): Removal | undefined => removals.find(({ remove }) => remove(text) !== text);
  // Every removal makes the text shorter.
  for (let removal = unwrap(); removal; removal = unwrap()) {
    text = removal.remove(text).trim();
    corrections.add(removal.correction);
  }
  return text === '' ? { text: value.trim(), corrections: [] } : { text, corrections: [...corrections] };
}

/** Removes the brackets around a value, but not those of an IPv6 address or of a defanged dot. */
function removeBrackets(text: string): string {
  const inner = /^(?:<([^<>]+)>|\(([^()]+)\)|\[([^[\]]+)\])$/.exec(text);
  const found = inner?.[1] ?? inner?.[2] ?? inner?.[3];
  return found === undefined || isIPv6(found) ? text : found;
}

const partsMax = 4;

/**
 * Returns the parts of a composite value as sources write them: `domain|ip`, `file name|sha256`. A value that is not composite, such as a host
 * with its port or a command with a pipe, is its only part.
 */
export function splitComposite(text: string): string[] {
  const isComposite = text.includes('|') && !/\s\||\|\s|\|\||^\||\|$/.test(text) && !/^\w+:\/\//.test(refang(text));
  const parts = isComposite && !correctValue('address', text) ? text.split('|') : [text];
  return parts.length <= partsMax ? parts : [text];
}
