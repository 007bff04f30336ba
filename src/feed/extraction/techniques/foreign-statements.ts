import { reportLanguages, type ReportLanguageCode } from '../languages/report-languages.ts';
import type { ReportLanguage } from '../languages/report-language.ts';
import { facingCues } from '../severity/severity-cues.ts';

type ForeignRules = ReturnType<typeof compileRules>;

const compiled = new Map<string, ForeignRules>();
/** Programs in which a flaw is exploited by a file or a page that the victim opens. */
export const clientPrograms =
  /\b(?:Office|Word|Excel|Outlook|WinRAR|7-Zip|Chrome|Firefox|Safari|Acrobat|Reader|browsers?)\b/;
const facingForeign =
  /\b(?:edge|VPN|internet)\b|pare-feux?|cortafuegos|firewall|роутер|маршрутизатор|межсетев|防火墙|网关|ファイアウォール|ルータ|방화벽|라우터/i;
const [denialMaxChars, deniedMaxChars] = [40, 25];

/** Returns whether a sentence of a language advises its readers. */
export const isForeignAdvice = (sentence: string, language: ReportLanguageCode): boolean =>
  rulesOf(language).advice.test(sentence);

/**
 * Returns the techniques that a sentence of a language other than English states plainly. Advice and denials state none. The techniques in
 * `known` are not looked for.
 */
export function findForeignStatements(
  sentence: string,
  language: ReportLanguageCode,
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

function rulesOf(language: ReportLanguageCode): ForeignRules {
  const known = compiled.get(language);
  if (known) return known;
  const rules = compileRules(reportLanguages[language]);
  compiled.set(language, rules);
  return rules;
}

function compileRules({ techniqueTerms, isUnspaced }: ReportLanguage) {
  const rows = techniqueTerms
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
  const [before, after] = isUnspaced
    ? ['', '[^，。,]{0,10}$']
    : [String.raw`(?<!\p{L})`, String.raw`(?!\p{L})[^,;:]*$`];
  const denial = byKey.get('denial');
  const denied = byKey.get('denied');
  return {
    statements: rows.filter(([key]) => /^T\d/.test(key)).map(([key, source]) => [key, toPattern(source)] as const),
    exploited: toPattern(byKey.get('exploited')!),
    doubt: toPattern(byKey.get('doubt')!),
    advice: toPattern(byKey.get('advice')!),
    /** Words before a statement, and words after it, that deny it. */
    denial: denial === undefined ? undefined : new RegExp(`${before}(?:${denial})${after}`, 'iu'),
    denied: denied === undefined ? undefined : new RegExp(`^[^。.,、]{0,20}${denied}`, 'u'),
  };
}
