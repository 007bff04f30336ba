import { isReportLanguage, reportLanguages, type ReportLanguageCode } from '../lexicon/languages.ts';
import { anchorKeyChars, cue, indexStatements, type RoleStatement, type Statement } from '../lexicon/lexicon.ts';
import { compilePhrases } from '../lexicon/phrases.ts';
import type { AdviceAction, ValueRole } from '../../model/vocabulary.ts';
import { isDefensive, isDenied } from './sentence-kinds.ts';

type StatementInput = { sentence: string; words: string[]; previous: string; language?: string | undefined };

let index: ReturnType<typeof indexStatements> | undefined;

/**
 * Returns the techniques that a sentence states plainly. `words` are the words of the sentence, `previous` is the sentence before it,
 * `language` is the language of the text. Advice, defense and denials state none. The techniques in `known` are not looked for.
 */
export function findStatedTechniques(input: StatementInput, known: ReadonlyMap<string, unknown>): string[] {
  const { sentence, language } = input;
  const found = findEnglishStatements(input, known);
  if (!isReportLanguage(language)) return found;
  const stated = found.length > 0 && lexiconOf(language).advice.test(sentence) ? [] : found;
  return [...new Set([...stated, ...findForeignStatements(sentence, language, known)])];
}

function findEnglishStatements(
  { sentence, words, previous }: StatementInput,
  known: ReadonlyMap<string, unknown>,
): string[] {
  const found = new Set<string>();
  const seen = new Set<Statement>();
  index ??= indexStatements();
  for (const word of words)
    for (const { anchor, statement } of index.get(word.slice(0, anchorKeyChars)) ?? []) {
      if (!word.startsWith(anchor) || seen.has(statement)) continue;
      if (known.has(statement.means) || found.has(statement.means)) continue;
      seen.add(statement);
      const { pattern, near, without } = statement;
      const match = pattern.exec(sentence);
      if (!match || (near && !near.test(sentence) && !near.test(previous)) || without?.test(sentence)) continue;
      if (isDenied(sentence, { index: match.index, length: match[0].length })) continue;
      if (found.size === 0 && isDefensive(sentence)) return [];
      found.add(statement.means);
    }
  return [...found];
}

type CompiledLexicon = ReturnType<typeof compileLexicon>;

const compiled = new Map<string, CompiledLexicon>();
const [denialMaxChars, deniedMaxChars] = [40, 25];

/**
 * Returns the techniques that a sentence of a language other than English states plainly. Advice and denials state none. The techniques in
 * `known` are not looked for.
 */
export function findForeignStatements(
  sentence: string,
  language: ReportLanguageCode,
  known: ReadonlyMap<string, unknown>,
): string[] {
  const { statements, advice, ...cues } = lexiconOf(language);
  const found = statements
    .filter(({ means, pattern }) => !known.has(means) && isStated(pattern.exec(sentence), cues))
    .map(({ means }) => means);
  if (!cues.doubt.test(sentence) && isStated(cues.exploited.exec(sentence), cues)) {
    if (cue('clientPrograms').test(sentence)) found.push('T1203');
    else if (cue('facing').test(sentence) || cue('facingAbroad').test(sentence)) found.push('T1190');
  }
  return found.length > 0 && advice.test(sentence) ? [] : found;
}

/** Returns whether no words before or after a match deny it. */
function isStated(
  match: RegExpExecArray | null,
  { denial, denied }: Pick<CompiledLexicon, 'denial' | 'denied'>,
): boolean {
  if (!match) return false;
  const { input, index: start } = match;
  const end = start + match[0].length;
  const clauses = input.slice(Math.max(0, start - denialMaxChars), start).split(/[,;:，。、]/);
  return !denial?.test(clauses.at(-1)!) && !denied?.test(input.slice(end, end + deniedMaxChars).split(/[。.,、]/)[0]!);
}

/** Returns the first action that a sentence in a language other than English advises. */
export function findAdviceIn(language: ReportLanguageCode, sentence: string): AdviceAction | undefined {
  const cues = lexiconOf(language);
  if (!cues.advice.test(sentence)) return undefined;
  return cues.actions.find(({ pattern }) => isStated(pattern.exec(sentence), cues))?.means as AdviceAction | undefined;
}

/** Returns the words of a sentence in a language other than English that withdraw its report. */
export function findRetractionIn(language: ReportLanguageCode, sentence: string): RegExpExecArray | undefined {
  const { retraction, ...cues } = lexiconOf(language);
  const match = retraction.exec(sentence);
  return match && isStated(match, cues) && !cues.denial?.test(match[0]) ? match : undefined;
}

/** Returns the statements about the roles of values in a language other than English. */
export const listRolesIn = (language: ReportLanguageCode): RoleStatement[] => lexiconOf(language).roles;

/** Returns whether words around a match in a language other than English deny it. */
export const isDeniedIn = (language: ReportLanguageCode, match: RegExpExecArray): boolean =>
  !isStated(match, lexiconOf(language));

function lexiconOf(language: ReportLanguageCode): CompiledLexicon {
  let lexicon = compiled.get(language);
  if (!lexicon) compiled.set(language, (lexicon = compileLexicon(language)));
  return lexicon;
}

function compileLexicon(language: ReportLanguageCode) {
  const { statements, actions, roles, cues, isUnspaced } = reportLanguages[language];
  const compile = (phrases: string[], flags = ''): RegExp =>
    compilePhrases(phrases, { script: isUnspaced ? 'unspaced' : undefined }, flags);
  return {
    statements: statements.map(({ means, phrases }) => ({ means, pattern: compile(phrases) })),
    actions: actions.map(({ means, phrases }) => ({ means, pattern: compile(phrases) })),
    roles: roles.map(({ means, phrases }) => ({ means: means as ValueRole, pattern: compile(phrases, 'g') })),
    retraction: compile(cues.retraction),
    exploited: compile(cues.exploited),
    doubt: compile(cues.doubt),
    advice: compile(cues.advice),
    denial: cues.denial && compile(cues.denial),
    denied: cues.denied && compile(cues.denied),
  };
}
