import { exploitationCues, facingCues } from '../severity/severity-cues.ts';
import { discoveryStatements } from './discovery-statements.ts';
import { earlyStatements } from './early-statements.ts';
import { evasionStatements } from './evasion-statements.ts';
import { lateStatements } from './late-statements.ts';
import { isReportLanguage } from '../languages/report-languages.ts';
import { clientPrograms, findForeignStatements, isForeignAdvice } from './foreign-statements.ts';
import { splitWords } from './sentence-features.ts';
import { isDefensive, isDenied } from './sentence-kinds.ts';
import type { StatementRow } from './statement-words.ts';

/** `find` returns the words that state the technique, if any. */
type StatementRule = {
  technique: string;
  find: (sentence: string, previous: string) => { index: number; length: number } | undefined;
};

/** Exploitation of a system that the sentence itself calls exposed, without a word for its flaw. */
const exploitsExposed =
  /\bexploit(?:s|ed|ing|ation of)?\b[^.!?]{0,50}\b(?:(?:public|internet)[- ](?:facing|exposed)|exposed to the internet)\b/i;
/** Exploitation of a flaw as the way in. */
const exploitsForEntry =
  /\bexploit(?:s|ed|ing|ation of)?\b[^.!?]{0,60}\b(?:vulnerabilit\w+|flaws?|cve-\d{4}-\d+)\b[^.!?]{0,80}\b(?:gain(?:ed|ing|s)?|obtain(?:ed|ing|s)?|for) initial access\b/i;
/** Exploitation of an injection flaw in a server. */
const exploitsInjection =
  /\b(?:leverag|exploit|abus)(?:es|ed|ing)\b[^.!?]{0,60}\binjection (?:vulnerabilit\w+|flaws?|bugs?)\b[^.!?]{0,80}\b(?:servers?|appliances?|gateways?|web ?sites?|portals?|web applications?)\b/i;
const publicFacing: StatementRule = {
  technique: 'T1190',
  find: (sentence, previous) => {
    const exposed =
      match(exploitsExposed, sentence) ??
      match(exploitsInjection, sentence) ??
      (clientPrograms.test(sentence) ? undefined : match(exploitsForEntry, sentence));
    if (exposed) return exposed;
    for (const cue of exploitationCues) {
      const exploited = match(cue, sentence);
      if (exploited) return facingCues.test(sentence) || facingCues.test(previous) ? exploited : undefined;
    }
    return undefined;
  },
};
const exploitWords =
  'exploit exploits exploited exploiting exploitation weaponized abused abusing leverages leveraged leveraging vulnerability';

const rulesByWord = indexRules();

type StatementInput = { sentence: string; words: string[]; previous: string; language?: string | undefined };

/**
 * Returns the techniques that a sentence states plainly. `words` are the words of the sentence, `previous` is the sentence before it,
 * `language` is the language of the text. Advice, defense and denials state none. The techniques in `known` are not looked for.
 */
export function findStatedTechniques(input: StatementInput, known: ReadonlyMap<string, unknown>): string[] {
  const { sentence, language } = input;
  const found = findEnglishStatements(input, known);
  if (!isReportLanguage(language)) return found;
  const stated = found.length > 0 && isForeignAdvice(sentence, language) ? [] : found;
  return [...new Set([...stated, ...findForeignStatements(sentence, language, known)])];
}

function findEnglishStatements(
  { sentence, words, previous }: StatementInput,
  known: ReadonlyMap<string, unknown>,
): string[] {
  let found: string[] | undefined;
  let candidates: Set<StatementRule> | undefined;
  for (const word of words)
    for (const rule of rulesByWord.get(word) ?? []) {
      if (known.has(rule.technique) || candidates?.has(rule)) continue;
      candidates ??= new Set();
      candidates.add(rule);
      const statement = rule.find(sentence, previous);
      if (!statement || isDenied(sentence, statement)) continue;
      if (!found && isDefensive(sentence)) return [];
      found ??= [];
      found.push(rule.technique);
    }
  return found ?? [];
}

function match(pattern: RegExp, sentence: string): { index: number; length: number } | undefined {
  const found = pattern.exec(sentence);
  return found ? { index: found.index, length: found[0].length } : undefined;
}

function indexRules(): Map<string, StatementRule[]> {
  const index = new Map<string, StatementRule[]>();
  const add = (rule: StatementRule, triggers: string): void => {
    const words = new Set(triggers.split(' ').flatMap((trigger) => splitWords(trigger)[0] ?? []));
    for (const word of words) index.set(word, [...(index.get(word) ?? []), rule]);
  };
  const rows = [...earlyStatements, ...evasionStatements, ...discoveryStatements, ...lateStatements];
  for (const row of rows) add(createRule(row), row[1]);
  add(publicFacing, exploitWords);
  return index;
}

function createRule([technique, , pattern, { context, exception } = {}]: StatementRow): StatementRule {
  return {
    technique,
    find: (sentence, previous) =>
      (context && !context.test(sentence) && !context.test(previous)) || exception?.test(sentence)
        ? undefined
        : match(pattern, sentence),
  };
}
