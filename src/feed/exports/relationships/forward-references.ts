import type { Mention, MentionFinder } from './find-mentions.ts';

type Kind = 'actor' | 'malware' | 'vulnerability';
/** `hint` is part of every match of `naming` and saves the search in most sentences. `subject` is what the name has to be given to. */
type Pattern = { kind: Kind; hint: RegExp; unnamed: RegExp; naming: RegExp; subject: RegExp };

const attributes = String.raw`(?:[\p{L}\d’'.-]+ ){0,6}?`;
const namedAs = String.raw`\b(?:track(?:ed|s|ing)?|known|referred to|identif(?:y|ied|ies)|designated|dubbed|call(?:ed|s)|nam(?:ed|es)|monitor(?:ed|s)|codenamed)(?: [^.;,]{0,50} as| as| it| by [\p{L}\d ]{2,30}(?: as)?)?(?: (?:the|a|an))? ["“‘]?$`;

/** `Tracked as Foobar, …`, `Researchers call it Foobar`. */
const withoutNoun = String.raw`^\W*(?:\p{Lu}\p{Ll}+ly )?(?:Tracked|Known|Dubbed|Called|Named|Codenamed|Identified|Designated|Referred)\b|\b(?:it|them|they)\b`;

const namingWord = /\b(?:track|known|referred|identif|designat|dubbed|call|nam|monitor|codenam)/i;

/** Words for a subject that a sentence does not name, and the words before its name in the next sentence. */
const patterns: Pattern[] = [
  {
    kind: 'actor',
    hint: namingWord,
    unnamed: new RegExp(
      String.raw`\b[Aa]n? ${attributes}(?:group|gang|actor|crew|cluster|outfit|collective)\b(?! (?:of|named|called|dubbed|known|tracked)\b)|(?:^|\b(?:[\p{L}]+-(?:linked|backed|aligned|speaking|sponsored)|state|\p{Lu}\p{Ll}+) )[Hh]ackers\b`,
      'u',
    ),
    naming: new RegExp(namedAs, 'iu'),
    subject: new RegExp(
      String.raw`${withoutNoun}|\b(?:groups?|gangs?|crews?|actors?|adversar(?:y|ies)|clusters?|outfits?|collectives?|hackers|attackers|operators|intruders|cyberspies|apts?)\b`,
      'iu',
    ),
  },
  {
    kind: 'malware',
    hint: namingWord,
    unnamed: new RegExp(
      String.raw`\b(?:[Aa]n?|[Tt]he) ${attributes}(?:malware|backdoor|trojan|ransomware|loader|stealer|infostealer|botnet|worm|implant|spyware|wiper|rootkit|dropper)\b(?! (?:of|named|called|dubbed|known|tracked|group|gang|attack|campaign|famil\w+|operation)\b)`,
      'u',
    ),
    naming: new RegExp(namedAs, 'iu'),
    subject: new RegExp(
      String.raw`${withoutNoun}|\b(?:malware|backdoors?|trojans?|ransomware|loaders?|(?:info)?stealers?|botnets?|worms?|implants?|spyware|wipers?|rootkits?|droppers?|payloads?|famil(?:y|ies)|strains?|rats?)\b`,
      'iu',
    ),
  },
  {
    kind: 'vulnerability',
    hint: /CVE-\d/,
    unnamed: new RegExp(
      String.raw`\b(?:[Aa]n?|[Tt]wo|[Tt]hree|[Ff]our|[Ss]everal|[Mm]ultiple) ${attributes}(?:vulnerabilit(?:y|ies)|flaws?|bugs?|zero-days?|weakness(?:es)?|security (?:holes?|issues?))\b`,
      'u',
    ),
    naming:
      /^\W*(?:(?:The|This|These|Both)(?: [\p{L}-]+){0,3}? (?:vulnerabilit(?:y|ies)|flaws?|bugs?|zero-days?|weakness(?:es)?|issues?)\b|One\b|Tracked\b|Identified\b|Known\b|Designated\b|Assigned\b)[^.;]{0,90}$/u,
    subject: /^/,
  },
];

const otherThing = /\b(?:campaign|operation)\b/i;
const ofOtherThing = /^["”’']? (?:campaign|operation|activity|attacks?|scheme|technique)\b/i;

/**
 * Returns mentions at the words of a sentence whose name follows in the next one: `A group attacks banks. Researchers track it as Foobar.`,
 * `It exploits a flaw. The bug, tracked as CVE-2026-1234, …`.
 */
export function readForwardReferences(
  { sentence, mentions }: { sentence: string; mentions: Mention[] },
  next: string,
  find: MentionFinder,
): Mention[] {
  const open = patterns.flatMap(({ kind, hint, unnamed, naming, subject }) => {
    const isNamed = !hint.test(next) || mentions.some((mention) => mention.kind === kind);
    const match = isNamed ? null : unnamed.exec(sentence);
    return match ? [{ kind, naming, subject, start: match.index, end: match.index + match[0].length }] : [];
  });
  if (open.length === 0) return [];
  const following = find(next);
  return open.flatMap(({ kind, naming, subject, start, end }) => {
    const names = following.filter((mention) => mention.kind === kind);
    const [first] = names;
    const lead = first && next.slice(0, first.start);
    if (!lead || !naming.test(lead) || !subject.test(lead) || otherThing.test(lead)) return [];
    if (ofOtherThing.test(next.slice(first.end, first.end + 24))) return [];
    return (kind === 'vulnerability' ? names : [first]).map(({ name }) => ({ kind, name, start, end }));
  });
}
