import { demonymWords } from './demonyms.ts';

/** The words that refer to one name, and those that refer to one or several names. */
export type ReferenceWords = { one: RegExp; any?: RegExp };

const adjectives = String.raw`(?: (?:[\p{Ll}\d][\p{Ll}\d-]*|\p{L}+-(?:linked|nexus|aligned|backed|based|speaking|sponsored|affiliated)|(?:North |South )?(?:${demonymWords})))`;
const notOf = String.raw`\b(?! (?:of|behind|that|who)\b)`;
const afterLead = String.raw`^(?:[^,;:()]{3,60}, )?\W*`;

export const actorWords: ReferenceWords = {
  one: new RegExp(
    String.raw`\b(?:[Tt]he|[Tt]his)${adjectives}{0,3} (?:group|gang|crew|actor|adversary|collective|cluster|APT|outfit)${notOf}`,
    'u',
  ),
  any: new RegExp(
    String.raw`\b(?:[Tt]he|[Tt]hese|[Bb]oth)${adjectives}{0,3} (?:groups|gangs|crews|actors|attackers|hackers|operators|adversaries|intruders|criminals|cyberspies|cybercriminals|affiliates)${notOf}|${afterLead}[Tt]hey\b|^[Tt]heir (?:operations|campaigns|attacks|activit(?:y|ies)|arsenal|toolset|toolkit|tools|malware)\b`,
    'u',
  ),
};
export const malwareWords: ReferenceWords = {
  one: new RegExp(
    String.raw`\b(?:[Tt]he|[Tt]his)${adjectives}{0,3} (?:malware(?! family)|malware family(?= \p{Ll})|backdoor|trojan|ransomware|loader|dropper|downloader|stealer|infostealer|botnet|worm|implant|spyware|wiper|rootkit|RAT)\b(?! (?:of|family|operators|gang|group|called|named|dubbed|known|tracked|execution|process|component|module|file|dll|code|developers?|authors?)\b)`,
    'u',
  ),
};
export const vulnerabilityWords: ReferenceWords = {
  one: /\b(?:[Tt]he|[Tt]his) (?:bug|flaw|vulnerability|weakness|zero-day|security (?:hole|issue))\b(?! (?:of|in|that|was|is)\b)/u,
  any: /\b(?:[Tt]hese|[Bb]oth|[Tt]he two) (?:bugs|flaws|vulnerabilities|weaknesses|zero-days|security (?:holes|issues))\b(?! (?:of|in|that|were|are)\b)/u,
};
/** A sentence or list item without a subject: `* Used wipers`, `- **Targets:** Deploys a loader`. */
export const subjectless =
  /^\s*(?:[-*•–]\s*)?(?:\*\*[^*\n]{2,60}\*\*:?\s*)?(?=(?:Used?|Uses|Utilized|Install(?:s|ed)?|Deploy(?:s|ed)?|Target(?:s|ed)|Exploit(?:s|ed)|Leverag(?:es|ed)|Employ(?:s|ed)|Deliver(?:s|ed)|Distribut(?:es|ed)|Attack(?:s|ed)|Compromis(?:es|ed))\b)/u;
/** `It` and `Its`, which refer to the only name, whether of an actor or of malware. */
export const pronouns: ReferenceWords = {
  one: new RegExp(
    String.raw`${afterLead}[Ii]t (?=(?:has|is|was|also|then|\p{Ll}+s)\b)|^\W*Its (?=(?:[\p{Ll}-]+ ){0,2}(?:arsenal|toolset|toolkit|tools|payloads)\b)|(?<=\b(?:attribut(?:e|es|ed|ing)|link(?:s|ed)?|ties?|tied) )it(?= (?:to|with)\b)`,
    'u',
  ),
};
/** Possessions of a name: `The campaign`, `The victims`. */
export const possessions: ReferenceWords = {
  one: new RegExp(
    String.raw`^\W*(?:Its|Their|The|This|These)${adjectives}{0,2} (?:campaigns?|operations?|intrusions?|attacks|activity)${notOf}|^\W*(?:The |Its |Their |Known |Confirmed )?(?:(?:primary|main|other|known|confirmed|latest|recent|most recent|first) )?(?:[Vv]ictims|[Tt]argets|[Vv]ictimology|(?:[Aa]ffected|[Tt]argeted|[Ii]mpacted) (?:countries|nations|organi[sz]ations|sectors|industries|entities)|(?:[Cc]ountries|[Ss]ectors|[Ii]ndustries) (?:affected|targeted))\b|^These(?= (?:span|include)\b)`,
    'u',
  ),
};

const another = (nouns: string): RegExp =>
  new RegExp(
    String.raw`(?<!\b(?:is|are|was|were|be|as|being|like|became|remains?) (?:also |still )?)\b(?:[Aa]nother|[Aa]n?)(?: [\p{L}\d-]+){0,4}? (?:${nouns})\b(?! (?:of|members?|operations?|attacks?|campaigns?|family)\b)`,
    'u',
  );
/** Words for an unnamed actor or malware other than those named before: `Another group attacked`. */
export const anotherActor = another('group|gang|crew|actor|adversary|collective|cluster|outfit');
export const anotherMalware = another(
  'malware|backdoor|trojan|loader|dropper|downloader|stealer|infostealer|botnet|worm|implant|spyware|wiper|rootkit',
);
