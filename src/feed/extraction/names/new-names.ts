import { isName, nameKey, needsCue } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import { isGenericName } from './generic-names.ts';

/** A name that a text introduces, whether or not a list has it. */
export type NewName = { kind: 'actor' | 'malware'; name: string; span: Span };

const malwareNoun =
  'ransomware|malware|trojan|backdoor|rat|remote access tool|stealer|infostealer|loader|downloader|dropper|botnet|worm|wiper|rootkit|bootkit|spyware|keylogger|implant|banker|cryptominer|miner|web ?shell|framework|toolkit|phishing kit|malware family|exploit kit|tunneler|encryptor|sideloader|clipper|skimmer';
/** Nouns of parts and tools. Only a name in capitals is one of malware beside them: `a filter called FOOBARBAZ`. */
const partNoun =
  /\b(?:filter|module|plug-?in|component|utility|tool|launcher|injector|crypter|packer|program|script|dropper)s?(?: [\p{L}-]+){0,4} ["“‘']?$/iu;
const actorNoun =
  'apts|threat actors?|threat groups?|actors?|groups?|gang|apt|operators|hackers|crew|collective|adversary|adversaries|intrusion sets?|activity clusters?|threat clusters?|clusters?|activity|syndicate|espionage group|access brokers?';
const namedOnce = String.raw`\p{Lu}[\p{L}\p{N}_]{1,30}(?:[-.][\p{L}\p{N}]{1,20}){0,2}`;
const name = String.raw`(?:the )?["“‘'*]{0,2}(${namedOnce}(?: \p{Lu}[\p{L}\p{N}-]{1,20}){0,2})(?![\p{L}\p{N}_])`;
/** A name that starts with a small letter shows by a capital or a digit that it is one: `sLoad`, `fast16`. */
const introduced = String.raw`(?:the )?["“‘'*]{0,2}(${namedOnce}(?: \p{Lu}[\p{L}\p{N}-]{1,20}){0,2}|\p{Ll}{1,10}(?:\p{Lu}|\d)[\p{L}\p{N}]{1,20})(?![\p{L}\p{N}_])`;

/** Words that introduce a name. What kind of name it is follows from the noun beside them. */
const introductions = [
  String.raw`\b(?:[Dd]ubbed|[Cc]odenamed|[Cc]ode-named|[Nn]icknamed|[Cc]hristened|a\.k\.a\.?|aka)(?: it| them)?,? `,
  String.raw`\b(?:tracked|tracks|track|tracking|known|referred to|refers to|refer to|identified|designated|label+ed|monitored)(?: (?:it|them|this|internally|publicly|also|by|under|the|actor|group|activity|cluster|name|moniker|\p{Lu}\w{1,20}|\d{1,3})){0,8} as `,
  String.raw`\b(?:tracked|tracks|tracking|monitored)(?: [\p{L}\d]{1,20}){0,4} under the (?:name|moniker|designation|identifier) `,
  String.raw`\b(?:[Ww]e|they|who|itself|themselves|researchers|analysts|team|\p{Lu}\w{2,20}) (?:have |has |had )?(?:call|calls|called|name|named|names|calling)(?: it| them| itself| themselves| (?:this|the) \w{1,20})? `,
  String.raw`\b(?:operation|program|platform|service|kit|panel)s? (?:called|named|dubbed|known as) `,
  String.raw`\b(?:${malwareNoun}|${actorNoun})(?: family| strain| variant| suite| platform)?,? (?:called|named|by the name of|under the name|calling (?:itself|themselves)) `,
  String.raw`\b(?:tool|toolset|suite|killer|exploit)s? (?:called|named|dubbed|known as) (?=["“‘']?\p{Lu}\p{Ll}+\p{Lu})`,
  String.raw`\b(?:filter|module|plug-?in|component|utility|tool|launcher|injector|script)(?: [\p{L}-]+)? (?:called|named|dubbed|known as) (?=["“‘']?\p{Lu}{6})`,
  String.raw`\b(?:the|a|an) (?:[\p{L}-]+ ){0,3}(?:hacking group|threat group|threat actor|espionage group|ransomware group|cybercrime group|cyber ?criminal group|apt group|intrusion set|activity cluster|extortion group|collective|gang|group|backdoor|trojan|loader|stealer|ransomware|botnet|implant|wiper|rootkit|worm) `,
  String.raw`\b(?:backdoors|trojans|loaders|stealers|infostealers|rats|implants|wipers|botnets|worms|rootkits|downloaders|droppers|malware families|ransomware families) (?:such as|like|including|namely) (?=["“‘']?\p{Lu}[\p{L}\d-]*["”’']?(?:[,.;)]| [–—-]| [\p{Ll}]))`,
  String.raw`\b(?:attributed|attribute|attributes)(?: \w{1,20}){0,4} to (?:the )?(?:${actorNoun}) `,
].map((lead) => new RegExp(lead + introduced, 'gu'));

/** A name right before its kind: `Foobar ransomware`, `Foobar threat actors`. */
const beforeMalware = new RegExp(String.raw`(?<![\p{L}\p{N}_./-])${name}["”’']?,? (?:${malwareNoun})\b`, 'gu');
/** A quoted name without a first capital: `‘fast16’ malware`. */
const quotedMalware = new RegExp(
  String.raw`["“‘'](\p{Ll}{1,10}(?:\p{Lu}|\d)[\p{L}\p{N}]{0,20})["”’'],? (?:${malwareNoun})\b`,
  'gu',
);
const beforeActor = new RegExp(
  String.raw`(?<![\p{L}\p{N}_./-])${name}["”’']? (?:threat actors?|threat group|hacking group|cybercrime group|espionage group|apt group|APT(?: group)?|hackers|gang|operators|intrusion set|group (?:has|have|is|was|claimed|targeted|used|uses|also)|ransomware (?:group|gang|operators))\b`,
  'gu',
);

const definedMalware =
  'ransomware|malware|trojan|backdoor|rat|remote access trojan|stealer|infostealer|loader|downloader|dropper|botnet|worm|wiper|rootkit|bootkit|spyware|keylogger|implant|phishing kit|phishing-as-a-service|exploit kit|banker|cryptominer|miner|cryptojacking campaign';
const definedActor =
  'threat actor|threat group|hacking group|ransomware group|ransomware gang|cybercrime group|cyber ?espionage group|espionage group|apt group|apt|intrusion set|activity cluster|threat cluster|hacktivist group|extortion group|access broker|hackers';
// `Using PowerShell, the actor connected` refers to an actor that was mentioned before.
const definition = String.raw`(?:,(?: meanwhile,| in turn,| by contrast,)?(?: is| was)?| is| was|:) (?:(?:an?|one of the) (?:[\p{L}\d/.-]+ ){0,5}|the (?!same )(?:[\p{L}\d/.-]+ ){1,5})`;
const noCompany = String.raw`(?:s|es)?\b(?! (?:compan|vendor|research|expert|analyst|firm|protection|detection|removal|specialist|hunter|news|intelligence|campaign|attack|operation|infection|activit))`;
/** A name with what it is right after it: `Foobar, a new backdoor`, `Foobar is a threat actor`. */
const definitions = [
  [
    'malware',
    new RegExp(String.raw`(?<![\p{L}\p{N}_./-])${name}["”’']?${definition}(?:${definedMalware})${noCompany}`, 'gu'),
  ],
  [
    'actor',
    new RegExp(String.raw`(?<![\p{L}\p{N}_./-])${name}["”’']?${definition}(?:${definedActor})${noCompany}`, 'gu'),
  ],
] as const;
/** A name set off after its kind: `a Linux botnet, Foobar, that …`. */
const appositions = new RegExp(
  String.raw`\b(?:[Aa]n?|[Tt]he|new|[Tt]his|its|based) (?:[\p{L}\d-]+ ){0,4}(?:${definedMalware}), ["“‘']?(${namedOnce}(?: RAT)?)["”’']?(?=, |\.(?:\s|$))`,
  'gu',
);
/** A numbered designation of any publisher before its kind: `ABC-123 group`. */
const designations = /(?<![\p{L}\p{N}-])(\p{Lu}{2,6}-\d{2,5}) (?:[Gg]roup|(?:threat )?actors?|cluster)\b/gu;
/** A name that ends with what the group calls itself: `the Foobar Gang`. */
const crews = new RegExp(String.raw`(?<![\p{L}\p{N}_./-])(${namedOnce} (?:Gang|Crew|Cartel))(?![\p{L}\p{N}_])`, 'gu');
/** A name with numbered designations of actors in brackets: `Foobar (aka UNC1234)`. */
const withDesignations = new RegExp(
  String.raw`(?<![\p{L}\p{N}_./-])${name}["”’']? \((?:aka|a\.k\.a\.|also known as|also tracked as|tracked as|formerly)[^)]{0,80}?\b(?:UNC\d{3,5}|TA\d{3,4}|UAC-\d{4}|Storm-\d{3,4}|APT-?\d{1,3}|REF\d{4}|(?:CL|TGR)-[A-Z]{3}-\d{4}|FIN\d{1,2})\b`,
  'gu',
);

const defined = [
  ...definitions,
  ['malware', appositions] as const,
  ['actor', designations] as const,
  ['actor', crews] as const,
  ['actor', withDesignations] as const,
];

const listed = String.raw`["“‘']?(${namedOnce}(?: \p{Lu}[\p{L}\p{N}-]{1,20}){0,2})["”’']?`;
/** Several names after their common noun: `two backdoors, Foo and Bar`, `groups including Foo, Bar, and Baz`. */
const lists = [
  [
    'malware',
    'backdoors|malware families|ransomware families|families|loaders|stealers|infostealers|rats|implants|trojans|wipers|botnets|strains|downloaders|droppers|rootkits',
  ],
  [
    'actor',
    'threat actors|actors|threat groups|groups|gangs|clusters|hacking groups|apts|crews|collectives|intrusion sets|ransomware operations',
  ],
].map(
  ([kind, nouns]) =>
    [
      kind as NewName['kind'],
      new RegExp(
        String.raw`\b(?:${nouns})(?: (?!us(?:ed|e|ing)\b|deploy|tools\b)[\p{L}.-]{1,20}){0,${kind === 'actor' ? 2 : 5}}?(?::|,? ?(?:—|–| - )|,? (?:such as|including|namely|called|named|dubbed|known as|tracked as|like)|(?= \p{Lu}))(?: the)? ?(?:(?:including|namely|such as) )?${listed}(?:, ${listed})?(?:, ${listed})?(?:, ${listed})?,? and ${listed}(?![\p{L}\p{N}_])`,
        'gu',
      ),
    ] as const,
);

const furtherNames = new RegExp(
  String.raw`^["”’']?(?:, ${listed})?(?:, ${listed})?,? and ${listed}(?![\p{L}\p{N}_])`,
  'u',
);

/** Naming schemes of publishers, which need no introduction. */
const schemes =
  /\b(?:\p{Lu}\p{Ll}{2,14} (?:Typhoon|Blizzard|Sleet|Sandstorm|Tempest|Tsunami|Cyclone)|[A-Z]{3,14} (?:PANDA|BEAR|KITTEN|CHOLLIMA|SPIDER|JACKAL|LEOPARD|TIGER|WOLF|OCELOT|CRANE|LYNX|HAWK|BUFFALO)|\p{Lu}\p{Ll}{2,14} (?:Panda|Kitten|Chollima|Spider)|(?:GOLD|BRONZE|IRON|COBALT|NICKEL|TIN|ZINC|ALUMINUM) [A-Z]{4,14}|\p{Lu}\p{Ll}{2,14} (?:Taurus|Ursa|Serpens|Scorpius|Libra|Draco|Pisces|Virgo)|Earth (?!Day|Science|Sciences|Engine|Observation)\p{Lu}\p{Ll}{3,14})\b/gu;

const reachBefore = 110;
const reachAfter = 30;
const namesMax = 200;

/** Words of which one stands in every introduction, and nouns of which one stands beside every other new name. */
const introducingWord =
  /\b(?:dubbed|code-?named|nicknamed|christened|a\.k\.a|aka|track(?:s|ed|ing)?|known|refer(?:s|red)?|identified|designated|label+ed|monitored|call(?:s|ed|ing)?|name[sd]?|attribut(?:e|ed|es)|(?:group|gang|actor|set|cluster|collective|backdoor|trojan|loader|stealer|infostealer|downloader|dropper|ransomware|botnet|implant|wiper|rootkit|worm|rat|families)s?)\b/i;
const kindNoun = new RegExp(
  String.raw`\b(?:${malwareNoun}|${definedMalware}|${actorNoun}|families|strains|collectives|crews|sets|operations|formerly)s?\b|\b(?:aka|a\.k\.a|tracked)\b`,
  'i',
);
// No end after `a.k.a.`.
const sentenceEnd = /(?<!\.[a-z])[.!?]["”’)]?\s|\n/g;

/** Returns the names that a text introduces by cue, in text order. */
export function findNewNames(text: string): NewName[] {
  const found: NewName[] = [];
  // Lists and logs repeat sentences. One without a candidate has none where it is repeated.
  const barren = new Set<string>();
  let candidates = 0;
  const add: AddName = (kind, printed, start) => {
    candidates += 1;
    if (kind && found.length < namesMax)
      found.push({ kind, name: printed, span: { start, end: start + printed.length } });
  };
  let start = 0;
  const read = (end: number): void => {
    const sentence = text.slice(start, end);
    if (found.length < namesMax && !barren.has(sentence)) {
      const before = candidates;
      if (introducingWord.test(sentence)) readIntroductions(text, { sentence, start }, add);
      if (kindNoun.test(sentence)) readKinds({ sentence, start }, add);
      if (candidates === before) barren.add(sentence);
    }
    start = end;
  };
  for (const { index, 0: mark } of text.matchAll(sentenceEnd)) read(index + mark.length);
  read(text.length);
  for (const match of text.matchAll(schemes)) add('actor', match[0], match.index);
  return found;
}

type AddName = (kind: NewName['kind'] | undefined, printed: string, start: number) => void;
type TextPart = { sentence: string; start: number };

const isNaming = /^(?:dubbed|code-?named|nicknamed|tracked|known)\b/i;

function readIntroductions(text: string, { sentence, start: offset }: TextPart, add: AddName): void {
  for (const pattern of introductions)
    for (const match of sentence.matchAll(pattern)) {
      const printed = trimName(match[1]!);
      const at = offset + match.index;
      const start = at + match[0].lastIndexOf(match[1]!);
      if (!isUsable(printed, isNaming.test(match[0]))) continue;
      const isPart =
        /\p{Ll}\p{Lu}|\d|^\p{Lu}{6,}$/u.test(printed) && partNoun.test(text.slice(Math.max(0, at - 60), start));
      const kind = isPart ? 'malware' : guessKindAround(text, at, start + printed.length);
      add(kind, printed, start);
      addFurther(sentence, { from: start - offset + match[1]!.length, offset, kind }, add);
    }
}

/** Adds the names that continue a list after an introduced one: `dubbed Foobar, Barfoo and Bazbar`. */
function addFurther(
  sentence: string,
  { from, offset, kind }: { from: number; offset: number; kind: NewName['kind'] | undefined },
  add: AddName,
): void {
  const match = furtherNames.exec(sentence.slice(from));
  let at = from;
  for (const item of match?.slice(1) ?? []) {
    if (item === undefined) continue;
    at = sentence.indexOf(item, at);
    const printed = trimName(item);
    if (isUsable(printed, true) && isDistinctive(printed)) add(kind, printed, offset + at);
    at += item.length;
  }
}

/** Reads the names that stand beside the noun for what they are. */
function readKinds({ sentence, start: offset }: TextPart, add: AddName): void {
  for (const [kind, pattern] of [
    ['malware', beforeMalware],
    ['malware', quotedMalware],
    ['actor', beforeActor],
  ] as const)
    for (const match of sentence.matchAll(pattern)) {
      const printed = trimLead(trimName(match[1]!));
      const start = match.index + match[0].indexOf(printed);
      // A common word before a kind describes it (`Custom loader`), unless it stands in quotes.
      const isQuoted = /["“‘']/.test(match[0].slice(0, match[0].indexOf(match[1]!)));
      if (kind === 'actor' && kindEnd.test(printed)) continue;
      if (isUsable(printed) && (isQuoted || !needsCue(printed))) add(kind, printed, offset + start);
    }
  for (const [kind, pattern] of defined)
    for (const match of sentence.matchAll(pattern)) {
      const full = pattern === crews ? match[1]! : trimName(match[1]!);
      const printed = trimLead(full.replace(headlineVerb, ''));
      const start = match.index + match[0].indexOf(match[1]!) + full.length - printed.length;
      if (isUsable(printed) && (pattern === withDesignations || isDistinctive(printed)))
        add(kind, printed, offset + start);
    }
  for (const [kind, pattern] of lists)
    for (const match of sentence.matchAll(pattern)) {
      const items = match.slice(1).filter((item) => item !== undefined);
      // A common word counts as a name only in a list that also has a distinctive name.
      if (!items.some((item) => isDistinctive(trimName(item)))) continue;
      let from = match.index;
      for (const item of items) {
        from = sentence.indexOf(item, from);
        const printed = trimName(item);
        if (isUsable(printed)) add(kind, printed, offset + from);
        from += item.length;
      }
    }
}

/** Removes generic words and acronyms at the end: `Foobar Ransomware`, `Foobar CLI`. */
const trimName = (printed: string): string => {
  const rest = printed.replace(genericEnd, '');
  const [, start, acronym] = / ?(.+) (?!RAT)([A-Z]{2,5})$/.exec(rest) ?? [];
  return start !== undefined && isGenericName(acronym!) ? start : rest;
};
const genericEnd =
  / (?:Ransomware|Malware|Backdoor|Stealer|Infostealer|Loader|Trojan|Botnet|Worm|Wiper|Group|Gang|Team|APT|RaaS|MaaS|C2|IoT|Linux|Windows|Android|macOS|ESXi)$/;

/** Removes a participle, determiner or question word before a distinctive name that a noun follows: `Encrypted Foobar ransomware`, `The Foobar malware`. */
function trimLead(printed: string): string {
  const rest = printed.replace(
    /^(?:\p{Lu}\p{Ll}+(?:ed|ing)|The|This|New|Another|Every|Each|Any|You|Why|How|When|What|Unlike|Like|Via) (?=\p{Lu})/u,
    '',
  );
  return isDistinctive(rest) ? rest : printed;
}

/** Malware whose operators a text mentions: `the Foobar RAT threat actors`. */
const kindEnd = / RAT$/;

/** Names of functions, cmdlets, files and campaigns. */
const otherName =
  /^(?:Get|Set|New|Add|Invoke|Remove|Start|Stop|Import|Export|Out|Test|Write|Read|Install)-\p{Lu}|^(?:Get|Set|Nt|Zw|Rtl|Ldr|Virtual|Create|Write|Read|Open|Load|Find|Heap|Crypt|Internet)\p{Lu}\p{Ll}+(?:\p{Lu}|$)|\.(?:exe|dll|dat|sys|hex|ps1|vbs|js|bat|bin|zip|py|sh|net)$|^(?:Operation|Campaign) |_/iu;

/** Companies, agencies and their teams. */
const organization =
  / (?:Labs?|Security|Research|Intelligence|Networks?|Technologies|Technology|Software|Systems|Solutions|Institute|University|Agency|Corporation|Corp|Inc|Ltd|LLC|GmbH|Foundation|Bank|Ministry|Department|Police|Center|Centre|Council|Commission|Media|News|Times|Post|Response)$/;

const isUsable = (printed: string, isIntroduced = false): boolean =>
  nameKey(printed).length >= 3 &&
  !organization.test(printed) &&
  isName(printed) &&
  !isGenericName(printed, isIntroduced) &&
  !otherName.test(printed) &&
  !/^(?:CVE|CWE|T)-?\d|T\d{4}/.test(printed);

const headlineVerb =
  /^(?:Meet|Inside|Unmasking|Analyzing|Analysing|Dissecting|Introducing|Tracking|Behind|Unpacking|Exposing|Hunting|Beyond|From|Enter|Unveiling|Uncovering|Decoding|Deconstructing) /;

/** A defined name is no plain word: it has an inner capital or a digit, or its words are not common. */
const isDistinctive = (printed: string): boolean => /\p{Ll}\p{Lu}|\d/u.test(printed) || !needsCue(printed);

/** Matches the last end of a sentence. The periods of `a.k.a.` do not end one. */
const lastSentence = /(?<!\ba\.k\.a)\. (?!.*(?<!\ba\.k\.a)\. )/s;
const lastNoun = new RegExp(String.raw`\b(?:(${malwareNoun})|(${actorNoun}))s?\b`, 'gi');

/** Returns what the noun nearest to an introduction calls the name: malware or an actor. Undefined if the sentence has no such noun. */
function guessKindAround(text: string, cueStart: number, nameEnd: number): NewName['kind'] | undefined {
  const after = /^[^.!?\n]*/.exec(text.slice(nameEnd, nameEnd + reachAfter))![0];
  const first = [...after.matchAll(lastNoun)][0];
  if (first && first.index <= 3) return first[1] ? 'malware' : 'actor';
  const from = Math.max(0, cueStart - reachBefore);
  const before = text.slice(from, nameEnd);
  const sentence = before.slice(Math.max(before.search(lastSentence), before.lastIndexOf('\n')) + 1);
  const last = [...sentence.matchAll(lastNoun)].at(-1);
  if (last) return last[1] ? 'malware' : 'actor';
  return first && (first[1] ? 'malware' : 'actor');
}
