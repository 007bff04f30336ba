import { demonymWords, type Entity, type Mention, type MentionFinder } from './find-mentions.ts';
import { isListGap } from './relationship-cues.ts';

/** The words that refer to one name, and those that refer to one or several names. */
type ReferenceWords = { one: RegExp; any?: RegExp };

const adjectives = String.raw`(?: (?:[\p{Ll}\d][\p{Ll}\d-]*|\p{L}+-(?:linked|nexus|aligned|backed|based|speaking|sponsored|affiliated)|(?:North |South )?(?:${demonymWords})))`;
const notOf = String.raw`\b(?! (?:of|behind|that|who)\b)`;
const afterLead = String.raw`^(?:[^,;:()]{3,60}, )?\W*`;

const actorWords: ReferenceWords = {
  one: new RegExp(
    String.raw`\b(?:[Tt]he|[Tt]his)${adjectives}{0,3} (?:group|gang|crew|actor|adversary|collective|cluster|APT|outfit)${notOf}`,
    'u',
  ),
  any: new RegExp(
    String.raw`\b(?:[Tt]he|[Tt]hese|[Bb]oth)${adjectives}{0,3} (?:groups|gangs|crews|actors|attackers|hackers|operators|adversaries|intruders|criminals|cyberspies|cybercriminals|affiliates)${notOf}|${afterLead}[Tt]hey\b|^[Tt]heir (?:operations|campaigns|attacks|activit(?:y|ies)|arsenal|toolset|toolkit|tools|malware)\b`,
    'u',
  ),
};
const malwareWords: ReferenceWords = {
  one: new RegExp(
    String.raw`\b(?:[Tt]he|[Tt]his)${adjectives}{0,3} (?:malware(?! family)|malware family(?= \p{Ll})|backdoor|trojan|ransomware|loader|dropper|downloader|stealer|infostealer|botnet|worm|implant|spyware|wiper|rootkit|RAT)\b(?! (?:of|family|operators|gang|group|called|named|dubbed|known|tracked|execution|process|component|module|file|dll|code|developers?|authors?)\b)`,
    'u',
  ),
};
const vulnerabilityWords: ReferenceWords = {
  one: /\b(?:[Tt]he|[Tt]his) (?:bug|flaw|vulnerability|weakness|zero-day|security (?:hole|issue))\b(?! (?:of|in|that|was|is)\b)/u,
  any: /\b(?:[Tt]hese|[Bb]oth|[Tt]he two) (?:bugs|flaws|vulnerabilities|weaknesses|zero-days|security (?:holes|issues))\b(?! (?:of|in|that|were|are)\b)/u,
};
/** A sentence or list item without a subject: `* Used wipers`, `- **Targets:** Deploys a loader`. */
const subjectless =
  /^\s*(?:[-*•–]\s*)?(?:\*\*[^*\n]{2,60}\*\*:?\s*)?(?=(?:Used?|Uses|Utilized|Install(?:s|ed)?|Deploy(?:s|ed)?|Target(?:s|ed)|Exploit(?:s|ed)|Leverag(?:es|ed)|Employ(?:s|ed)|Deliver(?:s|ed)|Distribut(?:es|ed)|Attack(?:s|ed)|Compromis(?:es|ed))\b)/u;
/** `It` and `Its`, which refer to the only name, whether of an actor or of malware. */
const pronouns: ReferenceWords = {
  one: new RegExp(
    String.raw`${afterLead}[Ii]t (?=(?:has|is|was|also|then|\p{Ll}+s)\b)|^\W*Its (?=(?:[\p{Ll}-]+ ){0,2}(?:arsenal|toolset|toolkit|tools|payloads)\b)|(?<=\b(?:attribut(?:e|es|ed|ing)|link(?:s|ed)?|ties?|tied) )it(?= (?:to|with)\b)`,
    'u',
  ),
};
/** Possessions of a name: `The campaign`, `The victims`. */
const possessions: ReferenceWords = {
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
const anotherActor = another('group|gang|crew|actor|adversary|collective|cluster|outfit');
const anotherMalware = another(
  'malware|backdoor|trojan|loader|dropper|downloader|stealer|infostealer|botnet|worm|implant|spyware|wiper|rootkit',
);

/** Follows which actors and which malware the sentences of a text are about. */
export type ReferenceTracker = {
  /** Returns the mentions of a sentence with those of `the group` and `the malware`, which refer to the name mentioned last. */
  resolve: (sentence: string, mentions: Mention[]) => Mention[];
  /** Forgets the names at the title of another story. */
  readLine: (line: string) => void;
};

/** How many sentences after its name a pronoun can refer to an actor or malware. */
const sentencesMax = 5;

type Kind = 'actor' | 'malware' | 'vulnerability';

/** `isForeign`: the text is not in English. */
export function createReferenceTracker(isForeign: boolean): ReferenceTracker {
  const actor = createTopic(['actor'], { another: anotherActor });
  const malware = createTopic(['malware'], { another: anotherMalware });
  const vulnerability = createTopic(['vulnerability']);
  const sole = createTopic(['actor', 'malware'], { isSole: true });
  const topics = [actor, malware, vulnerability, sole];
  const byKind = { actor, malware, vulnerability };
  return {
    resolve: (sentence, mentions) => {
      const [actors, families, flaws, only] = topics.map((topic) => topic.read(sentence, mentions));
      const byActor = refer(sentence, actors!, isForeign ? foreignActorWords : actorWords);
      const references = [
        ...(byActor.length > 0 ? byActor : refer(sentence, actors!, { one: subjectless })),
        ...refer(sentence, families!, isForeign ? foreignMalwareWords : malwareWords),
        ...referToFlaws(sentence, flaws!, mentions),
        ...refer(sentence, only!, pronouns),
        ...(byActor.length > 0 ? [] : refer(sentence, actors!.length === 1 ? actors! : only!, possessions)),
      ];
      for (const { kind } of references) byKind[kind as Kind].touch();
      return references.length === 0 ? mentions : [...mentions, ...references].toSorted((a, b) => a.start - b.start);
    },
    readLine: (line) => {
      if (isTitle(line)) for (const topic of topics) topic.forget();
    },
  };
}

/** A short line without a mark of lists and headings and without an end of a sentence. */
const isTitle = (line: string): boolean => /^[\p{L}\p{N}“"'‘][^|\t:]{8,140}[^.:;,!?…|\s]$/u.test(line.trim());

type Topic = {
  /** Returns the names that a sentence may refer to. A sentence that names one of these kinds refers to none but by a pronoun. */
  read: (sentence: string, mentions: Mention[]) => Entity[];
  forget: () => void;
  /** Keeps the names for further sentences. */
  touch: () => void;
};

/**
 * `isSole`: for pronouns. A sentence with several names leaves none to refer to. `another`: words for one without a name, of which the next sentences
 * are.
 */
function createTopic(kinds: Kind[], { isSole = false, another }: { isSole?: boolean; another?: RegExp } = {}): Topic {
  let last: Entity[] = [];
  let age = 0;
  return {
    read: (sentence, mentions) => {
      const named = mentions.filter(({ kind }) => kinds.some((one) => one === kind));
      age += 1;
      if (named.length === 0 && another?.test(sentence)) last = [];
      const earlier = age <= sentencesMax ? last : [];
      if (named.length === 0) return earlier;
      age = 0;
      const names = leadingNames(sentence, named);
      last = isSole && named.some(({ name }) => name !== names[0]!.name) ? [] : names;
      return isSole ? earlier : [];
    },
    forget: () => {
      last = [];
    },
    touch: () => {
      age = 0;
    },
  };
}

/** Returns the first name of a sentence with those that form a list with it, without its aliases: `Foobar (aka Barfoo)`. */
function leadingNames(sentence: string, mentions: Mention[]): Entity[] {
  const names = new Map<string, Entity>();
  let edge: number | undefined;
  for (const { kind, name, start, end } of mentions) {
    const gap = edge === undefined ? undefined : sentence.slice(edge, start);
    if (gap !== undefined && !names.has(name) && (isAlias.test(gap) || !isListGap(gap))) break;
    names.set(name, { kind, name });
    edge = end;
  }
  return [...names.values()];
}
const isAlias = /\b(?:aka|a\.k\.a|known as|tracked as|tracks|calls|formerly|alias(?:es)?)\b|^ ?\(/;

/** Returns mentions at `the flaw`, which refers to the CVE of an earlier sentence, or else to one before it in the same sentence. */
function referToFlaws(sentence: string, earlier: Entity[], mentions: Mention[]): Mention[] {
  if (earlier.length > 0) return refer(sentence, earlier, vulnerabilityWords);
  const flaws = mentions.filter(({ kind }) => kind === 'vulnerability');
  const names = new Map(flaws.map(({ kind, name }) => [name, { kind, name }]));
  return refer(sentence, [...names.values()], vulnerabilityWords).filter(({ start }) => start > flaws.at(-1)!.end);
}

/** Returns mentions of names at the words that refer to them. */
function refer(sentence: string, names: Entity[], { one, any }: ReferenceWords): Mention[] {
  if (names.length === 0) return [];
  const match = any?.exec(sentence) ?? (names.length === 1 ? one.exec(sentence) : null);
  if (!match) return [];
  const end = match.index + match[0].trimEnd().length;
  return names.map((name) => ({ ...name, start: match.index, end }));
}

const one = String.raw`(?:[Ee]ste|[Ee]l|[Ee]se|[Ll]e|[Cc]e|[Oo]|[Ee]sse|[Ii]l|[Qq]uesto|[Dd]ie|[Dd]iese|[Dd]er|[Dd]ieser|[Dd]as)`;
const many = '(?:[Ll]os|[Ll]es|[Cc]es|[Oo]s|[Gg]li|[Ii]|[Dd]ie)';
const end = String.raw`(?![\p{L}-])`;

/** Words for the actor of an earlier sentence in French, Spanish, Portuguese, Italian and German. A verb without a subject is one as well. */
const foreignActorWords: ReferenceWords = {
  one: new RegExp(
    String.raw`(?<!\p{L})${one} (?:grupo|groupe|gruppo|Gruppe|banda|gang|Bande|actor|acteur|Akteur)${end}(?! (?:de|di|des|der|von|que|qui|che|die)\b)`,
    'u',
  ),
  any: new RegExp(
    String.raw`(?<!\p{L})${many} (?:atacantes|hackers|ciberdelincuentes|cibercriminales|cibercriminosos|attaquants|pirates|cybercriminels|invasores|criminosos|attaccanti|criminali|Angreifer|Hacker|Täter|Cyberkriminellen)${end}|(?:^|[,;] |(?<!\p{L})que )(?=(?:utilizan|usan|emplean|distribuyen|desplegaron|han (?:utilizado|usado|desplegado|logrado|distribuido)|utilizam|usam|distribuem|utilizzano|usano|distribuiscono)${end})`,
    'u',
  ),
};

const foreignMalwareWords: ReferenceWords = {
  one: new RegExp(
    String.raw`(?<!\p{L})${one} (?:malware|troyano|trojan|cheval de Troie|logiciel malveillant|rançongiciel|ransomware|botnet|Malware|Schadsoftware|Trojaner|Ransomware|Botnetz|programa malicioso)${end}(?! \p{Lu})`,
    'u',
  ),
};

type ReferenceKind = 'actor' | 'malware' | 'vulnerability';
/** `hint` is part of every match of `naming` and saves the search in most sentences. `subject` is what the name has to be given to. */
type Pattern = { kind: ReferenceKind; hint: RegExp; unnamed: RegExp; naming: RegExp; subject: RegExp };

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
