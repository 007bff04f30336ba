import { findTechnique, cacheFromTechniques, type Technique } from '../../reference-data/attack.ts';
import type { Span } from '../text/stored-text.ts';
import { findMatches } from '../text/find-matches.ts';

export type TechniqueMention = { technique: Technique; span: Span; by: 'id' | 'name' };

// Includes rule tags such as `attack.t1059.001`.
const id = /\b(?:T[01]\d{3}(?:[./]\d{3})?|(?<=\battack\.)t[01]\d{3}(?:\.\d{3})?)\b/g;

/** Finds ATT&CK ids and maps revoked ids to their successors. Unknown ids are omitted. */
export function findTechniqueIds(text: string): TechniqueMention[] {
  const found: TechniqueMention[] = [];
  for (const match of findMatches(id, text)) {
    const technique = findTechnique(match[0].replace('/', '.').toUpperCase());
    if (technique)
      found.push({ technique, span: { start: match.index, end: match.index + match[0].length }, by: 'id' });
  }
  return found;
}

// Technique names that are everyday words or parts of products. Only their ids count.
const everyday = new Set([
  'Control Panel',
  'Multi-Factor Authentication',
  ...`Tool Malware Server Domains Botnet Rundll32 Accounts Software Hardware Firmware Credentials Service Disable Email Spearphishing Phishing
  Exploits Vulnerabilities Serverless Malvertising Launchd Cron At Python JavaScript PowerShell Keychain Trap Screensaver Databases Wordlist`.split(
    /\s+/,
  ),
]);

type TechniqueName = { technique: Technique; name: string; lowerName: string };
const word = /\b[A-Za-z][A-Za-z0-9/&-]*/g;
const namesByFirstWord = cacheFromTechniques(indexOfNames);

/**
 * Finds technique names of two words in the exact case of ATT&CK that are no part of a longer title, and of three or more words in any case.
 */
export function findTechniqueNames(text: string): TechniqueMention[] {
  const byFirstWord = namesByFirstWord();
  const found: TechniqueMention[] = [];
  for (const match of findMatches(word, text)) {
    for (const { technique, name, lowerName } of byFirstWord.get(match[0].toLowerCase()) ?? []) {
      const printed = text.slice(match.index, match.index + name.length);
      if (printed.toLowerCase() !== lowerName || /\w/.test(text[match.index + name.length] ?? '')) continue;
      const isShort = name.split(' ').length < 3;
      if (isShort && (printed !== name || /^ \p{Lu}\p{Ll}/u.test(text.slice(match.index + name.length)))) continue;
      found.push({ technique, span: { start: match.index, end: match.index + name.length }, by: 'name' });
    }
  }
  return found;
}

function indexOfNames(techniques: Technique[]): Map<string, TechniqueName[]> {
  const index = new Map<string, TechniqueName[]>();
  const seen = new Map<string, number>();
  for (const { name } of techniques) seen.set(name, (seen.get(name) ?? 0) + 1);
  for (const technique of techniques) {
    // A name that two techniques share identifies neither.
    if (everyday.has(technique.name) || seen.get(technique.name)! > 1 || !technique.name.includes(' ')) continue;
    const first = /^[A-Za-z][A-Za-z0-9/&-]*/.exec(technique.name)?.[0].toLowerCase();
    if (!first) continue;
    index.set(first, [
      ...(index.get(first) ?? []),
      { technique, name: technique.name, lowerName: technique.name.toLowerCase() },
    ]);
  }
  return index;
}
