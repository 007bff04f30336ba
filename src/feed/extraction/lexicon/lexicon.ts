import advice from './english/advice.json' with { type: 'json' };
import names from './english/names.json' with { type: 'json' };
import severity from './english/severity.json' with { type: 'json' };
import techniques from './english/techniques.json' with { type: 'json' };
import values from './english/values.json' with { type: 'json' };
import type { AdviceAction, ValueRole } from '../../model/vocabulary.ts';
import { compilePhrases, listAnchors } from './phrases.ts';

/*
 * The English lexicon. A cue is a list of phrases (`phrases.ts`) with a name. A statement says what its phrases mean. Both are data files, which
 * code only combines.
 */

/** Phrases of a cue, or those in which upper and lower case differ. */
type CuePhrases = string[] | { exact: boolean; phrases: string[] };

const cues = { ...advice.cues, ...names.cues, ...severity.cues, ...techniques.cues, ...values.cues };

export type CueId = keyof typeof cues;

const phrasesById = new Map<string, CuePhrases>(Object.entries(cues));

function resolve(id: string): string[] {
  const found = phrasesById.get(id);
  if (!found) throw new Error(`The lexicon has no cue "${id}".`);
  return Array.isArray(found) ? found : found.phrases;
}

const isExact = (id: string): boolean => !Array.isArray(phrasesById.get(id) ?? []);

const compiled = new Map<string, RegExp>();

/** Returns the pattern of a cue, with the flag `g` to find all of its places. Compiled once per process. */
export function cue(id: CueId, flags: 'g' | '' = ''): RegExp {
  const key = `${id} ${flags}`;
  let pattern = compiled.get(key);
  if (!pattern) {
    const options = { resolve, isExact: isExact(id), script: 'english' } as const;
    compiled.set(key, (pattern = compilePhrases(resolve(id), options, flags)));
  }
  return pattern;
}

/** Phrases that mean something if a phrase of `near` occurs in the sentence or the one before it, and none of `without` in the sentence. */
type StatementRow = { means: string; phrases: string[]; exact?: boolean; near?: string[]; without?: string[] };

export type Statement = { means: string; pattern: RegExp; near: RegExp | undefined; without: RegExp | undefined };

const single = /^<(\w+)>$/;

/** Compiles a list of phrases. A single reference to a cue differs in case as the cue does. */
function compile(phrases: string[], exact = false): RegExp {
  const id = phrases.length === 1 ? single.exec(phrases[0]!)?.[1] : undefined;
  return compilePhrases(phrases, { resolve, isExact: exact || (id !== undefined && isExact(id)), script: 'english' });
}

const refuse = (phrase: string): never => {
  throw new Error(`The phrase "${phrase}" needs a word of three letters that must occur.`);
};

/** A statement with the beginning of a word that must occur in its sentence. */
type AnchoredStatement = { anchor: string; statement: Statement };

export const anchorKeyChars = 3;

/** Returns the statements of techniques by the first three letters of words of which one must occur in a sentence that makes the statement. */
export function indexStatements(): Map<string, AnchoredStatement[]> {
  const index = new Map<string, AnchoredStatement[]>();
  for (const row of techniques.statements as StatementRow[]) {
    const statement = {
      means: row.means,
      pattern: compile(row.phrases, row.exact),
      near: row.near && compile(row.near),
      without: row.without && compile(row.without),
    };
    for (const anchor of new Set(row.phrases.flatMap((phrase) => listAnchors(phrase, resolve) ?? refuse(phrase)))) {
      const key = anchor.slice(0, anchorKeyChars);
      index.set(key, [...(index.get(key) ?? []), { anchor, statement }]);
    }
  }
  return index;
}

/** A statement that gives a role to values. `pattern` finds all of its places. */
export type RoleStatement = { means: ValueRole; pattern: RegExp; without?: RegExp | undefined };

/** Returns the statements about the roles of values. They are read in sentences whose values are masked as `valuesWord`. */
export const listRoleStatements = (): RoleStatement[] =>
  (values.roles as (StatementRow & { means: ValueRole })[]).map(({ means, phrases, without }) => ({
    means,
    pattern: compilePhrases(phrases, { resolve, script: 'english' }, 'g'),
    without: without && compile(without),
  }));

/**
 * What advice means. `advice` finds it in any sentence: words for it, then the act, or a statement that it should be done. `instruction` finds it
 * at the beginning of a sentence in a section of advice.
 */
export type AdviceStatement = { means: AdviceAction; advice: RegExp; instruction: RegExp };

/** Returns the statements that advise readers. */
export const listAdviceStatements = (): AdviceStatement[] =>
  (advice.advice as { means: AdviceAction; act: string[]; stated: string[] }[]).map(({ means, act, stated }) => ({
    means,
    advice: compile([`<advised> .. (${act.join('/')})`, ...stated]),
    instruction: compile([`^<adviceLead>? (${act.join('/')})`]),
  }));
