import { advice, exploitationCues, facingCues } from '../severity/severity-cues.ts';
import { splitWords } from './sentence-features.ts';
import { earlyStatements } from './early-statements.ts';
import { lateStatements } from './late-statements.ts';

type StatementRule = { technique: string; states: (sentence: string, previous: string) => boolean };

/** Exploitation of a system that the sentence itself calls exposed, without a word for its flaw. */
const exploitsExposed =
  /\bexploit(?:s|ed|ing|ation of)?\b[^.!?]{0,50}\b(?:(?:public|internet)[- ](?:facing|exposed)|exposed to the internet)\b/i;
const publicFacing: StatementRule = {
  technique: 'T1190',
  states: (sentence, previous) =>
    exploitsExposed.test(sentence) ||
    (exploitationCues.some((cue) => cue.test(sentence)) && (facingCues.test(sentence) || facingCues.test(previous))),
};
const exploitWords =
  'exploit exploits exploited exploiting exploitation weaponized abused abusing leveraging vulnerability';

const rulesByWord = indexRules();

/** Words that make a sentence about defense, or deny what it describes. */
const defense =
  /\b(?:should|recommend\w*|mitigat\w+|organi[sz]ations (?:can|must|need)|defenders?|best practices?|to (?:prevent|detect|block|protect)|helps? (?:to )?(?:prevent|detect|protect)|our (?:products?|platforms?|solutions?|customers|service)|(?:can|will) (?:stop|prevent|block|detect)|(?:must|ought to) be|(?:employee|user|staff|awareness|security) training|security awareness|(?:can|could|may|might) lead to|remains? (?:the|one of)|most common|did not|was not|were not|no evidence|without evidence|never)\b/i;

/** Checks for advice, and for words of defense or denial. Such a sentence states no technique. */
export const isDefensive = (sentence: string): boolean => defense.test(sentence) || advice.test(sentence);

/**
 * Returns the techniques that a sentence states plainly. `words` are the words of the sentence, `previous` is the sentence before it. Advice,
 * defense and denials state none. The techniques in `known` are not looked for.
 */
export function findStatedTechniques(
  { sentence, words, previous }: { sentence: string; words: string[]; previous: string },
  known: ReadonlyMap<string, unknown>,
): string[] {
  let found: string[] | undefined;
  let candidates: Set<StatementRule> | undefined;
  for (const word of words)
    for (const rule of rulesByWord.get(word) ?? []) {
      if (known.has(rule.technique) || candidates?.has(rule)) continue;
      candidates ??= new Set();
      candidates.add(rule);
      if (!rule.states(sentence, previous)) continue;
      if (!found && isDefensive(sentence)) return [];
      found ??= [];
      found.push(rule.technique);
    }
  return found ?? [];
}

function indexRules(): Map<string, StatementRule[]> {
  const index = new Map<string, StatementRule[]>();
  const add = (rule: StatementRule, triggers: string): void => {
    const words = new Set(triggers.split(' ').flatMap((trigger) => splitWords(trigger)[0] ?? []));
    for (const word of words) index.set(word, [...(index.get(word) ?? []), rule]);
  };
  for (const [technique, triggers, pattern, context] of [...earlyStatements, ...lateStatements])
    add(
      {
        technique,
        states: (sentence, previous) =>
          pattern.test(sentence) && (!context || context.test(sentence) || context.test(previous)),
      },
      triggers,
    );
  add(publicFacing, exploitWords);
  return index;
}
