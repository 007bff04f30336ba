import { ownValue } from '../../../platform/lib/own-value.ts';
import { latinScriptTerms } from './latin-script-terms.ts';
import { otherScriptTerms } from './other-script-terms.ts';

type Glossary = { pattern: RegExp; phrases: string[] };

/** Scripts that print words without spaces between them. */
const unspacedLanguages = new Set(['ja', 'zh']);
const terms: Record<string, string> = { ...latinScriptTerms, ...otherScriptTerms };
const glossaries = new Map<string, Glossary>();

/**
 * Replaces the terms for attacks, attackers, victims and doubt of another language by the English words that the rules know. Names, numbers and
 * all other words stay. Returns the text unchanged for English, an unknown language, or one without terms.
 */
export function translateCues(text: string, language: string | undefined): string {
  const lines = language === undefined ? undefined : ownValue(terms, language);
  if (language === undefined || lines === undefined) return text;
  let glossary = glossaries.get(language);
  if (!glossary) {
    glossary = compile(lines, unspacedLanguages.has(language));
    glossaries.set(language, glossary);
  }
  const { pattern, phrases } = glossary;
  return text
    .replace(pattern, (...match) => ` ${phrases[match.slice(1).findIndex((group) => group !== undefined)]!} `)
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}

function compile(lines: string, isUnspaced: boolean): Glossary {
  const rows = lines
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' = ') as [string, string]);
  const groups = rows.map(([, terms]) => `(${terms.replaceAll('~', '\\p{L}*')})`).join('|');
  const source = isUnspaced ? groups : `(?<!\\p{L})(?:${groups})(?!\\p{L})`;
  return { pattern: new RegExp(source, 'giu'), phrases: rows.map(([phrase]) => phrase) };
}
