import { ownValue } from '../../../../platform/lib/json/json-values.ts';
import { facingCues } from '../../severity/severity-cues.ts';
import { eastAsianTechniqueTerms } from './east-asian-terms.ts';
import { germanicSlavicTechniqueTerms } from './germanic-slavic-terms.ts';
import { romanceTechniqueTerms } from './romance-terms.ts';

type ForeignRules = {
  statements: [technique: string, pattern: RegExp][];
  exploited: RegExp;
  doubt: RegExp;
  advice: RegExp;
  /** Words before a statement, and words after it, that deny it. */
  denial: RegExp | undefined;
  denied: RegExp | undefined;
};

const terms: Record<string, string> = {
  ...romanceTechniqueTerms,
  ...germanicSlavicTechniqueTerms,
  ...eastAsianTechniqueTerms,
};
const compiled = new Map<string, ForeignRules>();
/** Programs in which a flaw is exploited by a file or a page that the victim opens. */
export const clientPrograms =
  /\b(?:Office|Word|Excel|Outlook|WinRAR|7-Zip|Chrome|Firefox|Safari|Acrobat|Reader|browsers?)\b/;
const facingForeign =
  /\b(?:edge|VPN|internet)\b|pare-feux?|cortafuegos|firewall|роутер|маршрутизатор|межсетев|防火墙|网关|ファイアウォール|ルータ|방화벽|라우터/i;
const denialMaxChars = 40;
const deniedMaxChars = 25;

/** Returns whether techniques are read from sentences of a language other than English. */
export const hasForeignRules = (language: string | undefined): language is string =>
  language !== undefined && ownValue(terms, language) !== undefined;

/** Returns whether a sentence of a language advises its readers. */
export const isForeignAdvice = (sentence: string, language: string): boolean => rulesOf(language).advice.test(sentence);

/**
 * Returns the techniques that a sentence of a language other than English states plainly. Advice and denials state none. The techniques in
 * `known` are not looked for.
 */
export function findForeignStatements(
  sentence: string,
  language: string,
  known: ReadonlyMap<string, unknown>,
): string[] {
  const { statements, advice, ...rules } = rulesOf(language);
  const found = statements
    .filter(([technique, pattern]) => !known.has(technique) && isStated(pattern.exec(sentence), rules))
    .map(([technique]) => technique);
  const exploitation = rules.doubt.test(sentence) ? null : rules.exploited.exec(sentence);
  if (isStated(exploitation, rules)) {
    if (clientPrograms.test(sentence)) found.push('T1203');
    else if (facingCues.test(sentence) || facingForeign.test(sentence)) found.push('T1190');
  }
  return found.length > 0 && advice.test(sentence) ? [] : found;
}

function isStated(
  match: RegExpExecArray | null,
  { denial, denied }: Pick<ForeignRules, 'denial' | 'denied'>,
): match is RegExpExecArray {
  if (!match) return false;
  const { input, index } = match;
  const end = index + match[0].length;
  return (
    !denial?.test(input.slice(Math.max(0, index - denialMaxChars), index)) &&
    !denied?.test(input.slice(end, end + deniedMaxChars))
  );
}

function rulesOf(language: string): ForeignRules {
  const known = compiled.get(language);
  if (known) return known;
  const rules = compileRules(terms[language]!, language in eastAsianTechniqueTerms);
  compiled.set(language, rules);
  return rules;
}

function compileRules(lines: string, isUnspaced: boolean): ForeignRules {
  const rows = lines
    .trim()
    .split('\n')
    .map((line) => {
      const [key, pattern] = line.trim().split(' = ') as [string, string];
      return [
        key,
        pattern
          .replaceAll('~', String.raw`\p{L}{0,20}`)
          .replaceAll(' … ', String.raw`(?![\p{L}])[^.!?]{0,60}?(?<!\p{L})`),
      ] as const;
    });
  const toPattern = (source: string): RegExp =>
    new RegExp(isUnspaced ? source : String.raw`(?<!\p{L})(?:${source})(?!\p{L})`, 'iu');
  const byKey = new Map<string, string>(rows.filter(([key]) => !/^T\d/.test(key)));
  const denial = byKey.get('denial');
  const denied = byKey.get('denied');
  return {
    statements: rows.filter(([key]) => /^T\d/.test(key)).map(([key, source]) => [key, toPattern(source)]),
    exploited: toPattern(byKey.get('exploited')!),
    doubt: toPattern(byKey.get('doubt')!),
    advice: toPattern(byKey.get('advice')!),
    denial:
      denial === undefined
        ? undefined
        : new RegExp(
            isUnspaced ? `(?:${denial})[^，。,]{0,10}$` : String.raw`(?<!\p{L})(?:${denial})(?!\p{L})[^,;:]*$`,
            'iu',
          ),
    denied: denied === undefined ? undefined : new RegExp(`^[^。.,、]{0,20}${denied}`, 'u'),
  };
}
