import type { ClassificationBuilder } from '../classification-builder.ts';
import type { Span } from '../text/stored-text.ts';
import type { NameDictionary } from './dictionary/name-dictionary.ts';
import { extractNames } from './extract-names.ts';

/** Adds the malware, tools and actors that a text names, except for ambiguous aliases. Returns the span of each one's first mention. */
export function addProseNames(
  classification: ClassificationBuilder,
  text: string,
  dictionary: NameDictionary | undefined,
): Span[] {
  const names = extractNames(text, dictionary).filter(({ ambiguous }) => !ambiguous);
  for (const { kind, name, aliases, confidence } of names) classification.addName(kind, name, confidence, aliases);
  return names.map(({ spans }) => spans[0]!);
}
