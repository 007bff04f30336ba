import { activeExploitationCues, advice } from '../severity/severity-cues.ts';

/** Words that make a sentence about defense. */
const defense =
  /\b(?:should|recommend\w*|mitigat\w+|organi[sz]ations (?:can|must|need)|defenders|best practices?|to (?:prevent|detect|block|protect)|helps? (?:to )?(?:prevent|detect|protect)|defend(?:s|ing)? against|our (?:products?|platforms?|solutions?|customers|service)|(?:can|will) (?:stop|prevent|block|detect)|(?:must|ought to) be|(?:employee|user|staff|awareness|security) training|security awareness|(?:enabl|allow|help)\w* (?:security )?(?:analysts|responders|administrators|teams))\b/i;

const attackers = String.raw`(?:attackers?|hackers?|adversar(?:y|ies)|(?:threat |malicious )?actors?|(?:cyber ?)?criminals)`;
/** Possible acts of attackers, and experiments of researchers. */
const hypothesis = new RegExp(
  String.raw`(?<!\b(?:the|these|those) (?:[\w-]+ )?)\b${attackers} (?:[\w-]+ ){0,2}(?:could|can|may|might|would)\b|\bif an? (?:[\w-]+ )?${attackers}\b|\b(?:could|may|might|would) (?:be|have been) (?:exploited|abused|leveraged)\b|\b(?:could|can|may|might) (?:potentially )?(?:allow|enable|let|lead|result|permit|cause)\b|\bhypothetical\b|\b(?:we|researchers) (?:are|were|was) able to (?!(?:identify|confirm|find|determine|recover|retrieve|extract|observe))|\b(?:allow|giv)(?:ed|ing) us\b`,
  'i',
);
/** Remarks on attacks in general. */
const generality = new RegExp(
  String.raw`^(?:${attackers}|ransomware|malware|phishing)\b[^.!?]{0,30}\b(?:often|typically|commonly|usually|frequently|generally)\b|\b(?:refers to|occurs when|most common|remains? (?:the|one of))\b|^(?!(?:this|it|the|these|they)\b)(?:[\w-]+ ){1,3}(?:involves|is (?:malware|software) that|is an? (?:[\w-]+ )?(?:techniques?|tactics?|types?|forms?|kinds?|methods?))\b`,
  'i',
);

/** Advice to readers, lines of queries, and descriptions of detections. */
const address =
  /\b(?:do not|don['’]t)\b|^(?:[-*•\d.)\s]*)(?:instead,? (?:delete|remove|change|report)|report|alert on|watch for|investigate|configure|log use) |^(?:detections?|mitigations?|recommendations?|remediation|prevention)\s*[:–-]|\bhas_(?:any|all)\b|\bProcessCommandLine\b|\bsourcetype=/i;

/** Checks for advice to readers, possibilities and generalities. Such a sentence describes no behavior. */
export const isGeneral = (sentence: string): boolean =>
  advice.test(sentence) || address.test(sentence) || generality.test(sentence) || isHypothetical(sentence);

/** A flaw that is exploited already is more than a possibility. */
const isHypothetical = (sentence: string): boolean =>
  hypothesis.test(sentence) && !activeExploitationCues.some((cue) => cue.test(sentence));

const unobserved =
  /\bno (?:evidence|indications?|signs?|traces?)\b|\b(?:has|have|had|did|was|were|do|does)(?: not|n['’]t) (?:\w+ )?(?:observ|see|find|found|detect|identif|confirm)/i;
/** Checks for behavior that nobody observed. */
export const isUnobserved = (sentence: string): boolean => unobserved.test(sentence);

/** Like `isGeneral`, and checks for words of defense. Such a sentence states no technique. */
export const isDefensive = (sentence: string): boolean => defense.test(sentence) || isGeneral(sentence);

/** Words before a statement in its clause that deny it. */
const denial =
  /\b(?:not|never|neither|nor|without|unlike|no (?:evidence|indications?|signs?|traces?)|failed to|unable to|yet to|\w+n['’]t)\b(?! (?:only|just)\b)[^,;:]*$/i;
const denialMaxChars = 80;

/** Checks whether the clause of the words at `index` denies them. */
export function isDenied(sentence: string, { index, length }: { index: number; length: number }): boolean {
  return denial.test(sentence.slice(Math.max(0, index - denialMaxChars), index + length));
}
