import { activeExploitationCues, advice } from '../severity/severity-cues.ts';

/** Words that make a sentence about defense. */
const defense =
  /\b(?:should|recommend\w*|mitigat\w+|organi[sz]ations (?:can|must|need)|defenders|best practices?|to (?:prevent|detect|block|protect)|helps? (?:to )?(?:prevent|detect|protect)|defend(?:s|ing)? against|our (?:products?|platforms?|solutions?|customers|service|scanners?|engines?|rules?|detections?)|(?:can|will) (?:stop|prevent|block|detect)|(?:must|ought to) be|(?:employee|user|staff|awareness|security) training|security awareness|(?:enabl|allow|help)\w* (?:security )?(?:analysts|responders|administrators|teams))\b/i;

const attackers = String.raw`(?:attackers?|hackers?|adversar(?:y|ies)|(?:threat |malicious )?actors?|(?:cyber ?)?criminals)`;
/** Possible acts of attackers, and experiments of researchers. */
const hypothesis = new RegExp(
  String.raw`(?<!\b(?:the|these|those) (?:[\w-]+ )?)\b${attackers} (?:[\w-]+ ){0,2}(?:could|can|may|might|would)\b|\bif an? (?:[\w-]+ )?${attackers}\b|\b(?:could|may|might|would) (?:be|have been) (?:exploited|abused|leveraged)\b|\b(?:could|can|may|might) (?:potentially )?(?:allow|enable|let|lead|result|permit|cause)\b|\bhypothetical\b|\b(?:we|researchers) (?:are|were|was) able to (?!(?:identify|confirm|find|determine|recover|retrieve|extract|observe))|\b(?:allow|giv)(?:ed|ing) us\b|\bexpos(?:e|es|ed|ing)\b[^.!?]{0,60}\bto (?:[\w-]+ ){0,3}attacks\b`,
  'i',
);
/** Remarks on attacks in general. */
const generality = new RegExp(
  String.raw`^(?:${attackers}|ransomware|malware|phishing)\b[^.!?]{0,30}\b(?:often|typically|commonly|usually|frequently|generally)\b|\b(?:refers to|occurs when|most common|remains? (?:the|one of))\b|^(?!(?:this|it|the|these|they)\b)(?:[\w-]+ ){1,3}(?:involves|is (?:malware|software) that|is an? (?:[\w-]+ )?(?:techniques?|tactics?|types?|forms?|kinds?|methods?))\b`,
  'i',
);

/** Advice and instructions to readers, their questions, lines of queries, and descriptions of detections. */
const address =
  /^(?:[-*•\d.)\s]*)(?:how (?:to|can|do)\b|what (?:is|are)\b|right[- ]click\b|navigate to\b|go to\b|set the (?:value|name)\b|to (?:fix|remediate|resolve) (?:this|it)\b|if (?:an? )?(?:upgrad|updat|patch)\w*)|\b(?:do not|don['’]t)\b|^(?:[-*•\d.)\s]*)(?:instead,? (?:delete|remove|change|report)|report|alert on|watch for|investigate|configure|log use) |^(?:detections?|mitigations?|recommendations?|remediation|prevention)\s*[:–-]|\bhas_(?:any|all)\b|\bProcessCommandLine\b|\bsourcetype=/i;

/** Returns whether a sentence is advice to readers, a possibility or a generality. Such a sentence describes no behavior. */
export const isGeneral = (sentence: string): boolean =>
  advice.test(sentence) || address.test(sentence) || generality.test(sentence) || isHypothetical(sentence);

/** A flaw that is exploited already is more than a possibility. */
const isHypothetical = (sentence: string): boolean =>
  hypothesis.test(sentence) && !activeExploitationCues.some((cue) => cue.test(sentence));

const refused = String.raw`(?:was|were|has been|have been)(?: not| never|n['’]t) (?:used|involved|needed|required|necessary)\b(?! (?:for|to|as)\b)`;
const unobserved = new RegExp(
  String.raw`\bno (?:evidence|indications?|signs?|traces?)\b|\b(?:has|have|had|did|was|were|do|does)(?: not|n['’]t) (?:\w+ )?(?:observ|see|find|found|detect|identif|confirm)|\b${refused}|\b(?:needs?|needed|requires?|required|used|involved) no\b`,
  'i',
);
/** Returns whether a sentence is about behavior that nobody observed. */
export const isUnobserved = (sentence: string): boolean => unobserved.test(sentence);

/** Like `isGeneral`, and checks for words of defense. Such a sentence states no technique. */
export const isDefensive = (sentence: string): boolean => defense.test(sentence) || isGeneral(sentence);

const negation = String.raw`(?:not|never|neither|without|\w+n['’]t)\b(?! (?:only|just)\b)`;
/** Words before a statement in its clause that deny it. */
const denial = new RegExp(
  String.raw`\b(?:${negation}|nor\b|unlike\b|no (?:[\w-]+ )?(?:evidence|indications?|signs?|traces?|incidents?|cases|reports?|instances?)\b|failed to\b|unable to\b|yet to\b)[^,;:]*$`,
  'i',
);
/** A list before a statement whose items are denied: `did not require a flaw, a phishing page, or …`. */
const deniedList = new RegExp(
  String.raw`\b${negation}(?:(?!\b(?:but|instead|rather|and|then)\b)[^;:.!?])*,(?: n?or)?(?: an?)?$`,
  'i',
);
const alternative = /\bn?or /i;
/** `no` before the words of a statement: `no phishing page`. */
const absence = /\bno (?:[\w-]+ )?$/i;
/** Words after a statement that deny it: `phishing was not used`. */
const refusal = new RegExp(String.raw`^[^.,;:]{0,30}\b${refused}`, 'i');
const denialMaxChars = 80;

/** Returns whether the clause of the words at `index` denies them. */
export function isDenied(sentence: string, { index, length }: { index: number; length: number }): boolean {
  const end = index + length;
  const before = sentence.slice(Math.max(0, index - denialMaxChars), index);
  const after = sentence.slice(end, end + denialMaxChars);
  return (
    denial.test(before + sentence.slice(index, end)) ||
    absence.test(before) ||
    refusal.test(after) ||
    (deniedList.test(before.trimEnd()) && alternative.test(before.slice(-10) + after))
  );
}
