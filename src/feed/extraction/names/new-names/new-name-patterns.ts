import { findMatches } from '../../text/find-matches.ts';

/** Grammar of the sentences that introduce a name. Matching is case-sensitive, because a capital letter shows a name. */

/** Makes each alternative match with and without a first capital, as in headlines: `backdoor|trojan` → `[Bb]ackdoor|[Tt]rojan`. */
const inHeadlinesToo = (words: string): string =>
  words
    .split('|')
    .map((word) =>
      word.replaceAll(
        /(^| )(\p{Ll})/gu,
        (_, gap: string, letter: string) => `${gap}[${letter.toUpperCase()}${letter}]`,
      ),
    )
    .join('|');

export const malwareNoun =
  'ransomware|malware|trojan|backdoor|rat|remote access tool|stealer|infostealer|loader|downloader|dropper|botnet|worm|wiper|rootkit|bootkit|spyware|keylogger|implant|banker|cryptominer|miner|web ?shell|framework|toolkit|phishing kit|phishing platform|phishing service|malware family|exploit kit|tunneler|encryptor|sideloader|clipper|skimmer|crypter|edr killer|stager|phishing-as-a-service|traffic distribution system|drainer';
/** Nouns of parts and tools. Only a name in capitals is one of malware beside them: `a filter called FOOBARBAZ`. */
export const partNoun =
  /\b(?:filter|module|plug-?in|component|utility|tool|launcher|injector|crypter|packer|program|script|dropper)s?(?: [\p{L}-]+){0,4} ["“‘']?$/iu;
export const actorNoun =
  'apts|threat actors?|threat groups?|actors?|groups?|gang|apt|operators|hackers|crew|collective|adversary|adversaries|intrusion sets?|activity clusters?|threat clusters?|clusters?|activity|subgroup|syndicate|espionage group|access brokers?|hacking unit|persona';
/** Nouns of what has a name and is neither malware nor an actor. */
export const otherNoun =
  'campaign|operation|vulnerabilit(?:y|ies)|flaw|bug|exploit|exploit chain|technique|marketplace|forum|domain|folder|company|firm|vendor|conference|law|service|resource|task|mutex|registry key|function';

export const namedOnce = String.raw`(?:\p{Lu}|\d(?=[\p{L}\d]{0,8}\p{L}))[\p{L}\p{N}_]{1,30}(?:[-.][\p{L}\p{N}]{1,20}){0,2}\$?`;
const furtherWord = String.raw`(?: (?:\p{Lu}|\d\p{Lu})[\p{L}\p{N}-]{1,20}\$?)`;
const endOfName = String.raw`(?![\p{L}\p{N}_])`;
export const oneName = `${namedOnce}${furtherWord}{0,2}`;
const name = String.raw`(?:the )?["“‘'*]{0,2}(${oneName})${endOfName}`;
/** A name that starts with a small letter shows by a capital or a digit that it is one: `sLoad`, `fast16`. */
const introduced = String.raw`(?:the )?["“‘'*]{0,2}(${oneName}|\p{Ll}{1,10}(?:\p{Lu}|\d|-\d)[\p{L}\p{N}.]{0,20}[\p{L}\p{N}])${endOfName}`;
const startOfName = String.raw`(?<![\p{L}\p{N}_./-])`;

const kindOfName = String.raw`(?:${malwareNoun}|group|gang|actor|cluster|family|strain|hackers|crew)`;
const whatIsNamed = String.raw`(?: it| them| (?:the|this|their|its) (?:[\p{Ll}-]+ ){0,2}${kindOfName}s?(?: of (?:[\p{Ll}-]+ )?activity)?)?`;
/** Words that introduce a name. What kind of name it is follows from the noun beside them. */
export const introductions = [
  String.raw`(?:^(?:Called|Named)|\bwritten in [\p{L}+#]{1,12} and (?:called|named)|^Threat actor) `,
  String.raw`\b(?:[Dd]ubbed|[Cc]ode-?named|[Nn]icknamed|[Cc]hristened|a\.k\.a\.?|aka)${whatIsNamed},? `,
  String.raw`\b(?:[Tt]racked|tracks|track|tracking|[Kk]nown|referred to|refers to|refer to|[Ii]dentified|identif(?:y|ies|ying) (?:itself|themselves)|designated|label+ed|monitored)(?: (?:it|them|this|internally|publicly|widely|commonly|also|by|under|the|actor|group|activity|cluster|name|moniker|\p{Lu}\w{1,20}|\d{1,3})){0,8} as `,
  String.raw`\bdesignated (?=[A-Z]{2,6}-)`,
  String.raw`\b(?:tracked|tracks|tracking|monitored|operat(?:es|ed|ing)|posing|going|goes|marketed|advertised|promoted|sold|offered|distributed)(?: [\p{L}\d]{1,20}){0,4} (?:under|by) the (?:[\p{L}-]{1,20} )?(?:name|moniker|designation|identifier|alias|handle|persona)s?(?: of)?,? `,
  String.raw`\b(?:[Ww]e|they|who|itself|themselves|researchers|analysts|team|group|gang|crew|collective|alliance|developers|authors|operators|creators|sellers|attackers|criminals|\p{Lu}\w{2,20}) (?:have |has |had )?(?:call|calls|called|name|named|names|calling|dubbed)${whatIsNamed}(?: itself| themselves| (?:this|the) \w{1,20})? `,
  String.raw`\b(?:(?:has|have|had) been|was|were) (?:named|called|christened) (?:as )?`,
  String.raw`\b(?:given|giving it) the (?:code ?)?names? (?:of )?`,
  String.raw`\b(?:[Rr]ansomware|[Ee]xtortion|[Hh]acking|[Hh]acktivist|[Cc]ybercrime|[Cc]yber ?espionage|[Ee]spionage|[Aa]ctivity|[Tt]hreat) (?:gang|group|crew|collective|outfit|cluster|operation) (?=\p{Lu}[\p{L}\d]{3,20}(?: (?!Group|Gang|Team)\p{Lu}[\p{L}\d]+)?(?:[,.]| (?:has|have|claimed|claims|is|was|said|listed|leaked|targets|targeted|targeting|attacked|and)\b|$))`,
  String.raw`\b(?:operation|program|platform|service|kit|panel)s? (?:called|named|dubbed|known as) `,
  String.raw`\b(?:${malwareNoun}|${actorNoun})s?(?: family| strain| variant| suite| platform| groups?)?,? (?:\p{Ll}{3,12}ly )?(?:called|named|by the name of|under the name|calling (?:itself|themselves)) `,
  String.raw`\b(?:tool|toolset|suite|killer|exploit)s? (?:called|named|dubbed|known as) (?=["“‘']?\p{Lu}\p{Ll}+\p{Lu})`,
  String.raw`\b(?:filter|module|plug-?in|component|utility|tool|launcher|injector|script)(?: [\p{L}-]+)? (?:called|named|dubbed|known as) (?=["“‘']?\p{Lu}{6})`,
  String.raw`\b(?:[Tt]he|[Aa]n?) (?:[\p{L}-]+ ){0,3}(?:hacking group|threat group|(?:threat|ransomware|extortion|espionage|cybercrime|malicious|hacktivist|\p{L}+-(?:linked|backed|aligned|nexus|sponsored|affiliated|speaking)) (?:actor|adversary)|espionage group|ransomware group|cybercrime group|cyber ?criminal group|apt group|intrusion set|activity cluster|extortion group|access broker|collective|gang|group|persona|backdoor|trojan|loader|stealer|infostealer|ransomware|botnet|implant|wiper|rootkit|worm|spyware) `,
  String.raw`\b(?:attributed|attribute|attributes)(?: \w{1,20}){0,4} to (?:the )?(?:${actorNoun}) `,
].map((lead) => new RegExp(lead + introduced, 'gu'));

/** Words between a name and its kind: `the Foobar banking trojan`. */
export const platformWord =
  '[Bb]anking|[Mm]obile|[Aa]ndroid|[Ll]inux|[Ww]indows|macOS|iOS|[Rr]emote[- ][Aa]ccess|[Ii]nformation|[Cc]redential|[Pp]roxy|DDoS|IoT|ESXi|C2|\\p{Ll}+-(?:stealing|wiping|encrypting|mining|harvesting)';
const titleNoun = `(?:(?:${platformWord}) )?(?:${inHeadlinesToo(malwareNoun)})`;
const kindAtEnd =
  /(?<=\p{L})(?:Loader|Stealer|RAT|Wiper|Dropper|Backdoor|Rootkit|Keylogger|Botnet|Killer|2FA)(?![\p{L}\p{N}_(/\\@:]|\.\p{L})/gu;
const startOfSuffixed =
  /(?<![\p{L}\p{N}_./\\:@#$-])(?!(?:Enable|Disable|Enforce|Require|Class|Module|Data|Script|Plug[Ii]n|Image|Auto|Lazy|Boot|Font|File|Page|Web|Lib|Library|Assembly|Config|Resource|Info|Information|Crypto|Password|Credential|Cookie|Token|Shellcode|Reflective|Java|Multi|Native|Dll|Custom|System|Driver|Kernel|Eye|Tag|Bundle|Bulk|Dynamic|Asset|Content|Message|Document|Media|Video|Unity|Node|Type|Process|Remote|Test|My|New)$)\p{Lu}\p{L}{2,14}$/u;
/** Names that end with their kind and need no introduction: `FoobarLoader`. */
export function* matchSuffixed(text: string): Generator<{ 0: string; index: number }> {
  for (const { 0: kind, index } of findMatches(kindAtEnd, text)) {
    const start = startOfSuffixed.exec(text.slice(Math.max(0, index - 18), index));
    if (start) yield { 0: `${start[0]}${kind}`, index: index - start[0].length };
  }
}
/** Words after a kind that make the name before it one of a company or a publication. */
const noCompany = String.raw`\b(?! (?:[Cc]ompan|[Vv]endor|[Rr]esearch|[Ee]xpert|[Aa]nalyst|[Ff]irm|[Pp]rotection|[Dd]etection|[Rr]emoval|[Ss]pecialist|[Hh]unter|[Nn]ews|[Ii]ntelligence|[Rr]eport|[Gg]uide|[Tt]eam|[Ll]ab|[Ss]tatistic))`;
/** A name right before its kind: `Foobar ransomware`, `Foobar Ransomware`. */
export const beforeMalware = new RegExp(String.raw`${startOfName}${name}["”’']?,? ${titleNoun}${noCompany}`, 'gu');
/** A quoted name without a first capital: `‘fast16’ malware`. */
export const quotedMalware = new RegExp(
  String.raw`["“‘'](\p{Ll}{1,10}(?:\p{Lu}|\d)[\p{L}\p{N}]{0,20})["”’'],? (?:${malwareNoun})\b`,
  'gu',
);
/** A quoted name after its kind: `AI-generated malware “Foobar”`. */
export const quotedAfterMalware = new RegExp(
  String.raw`\b${titleNoun}(?: [Vv]ariant| [Ss]train| [Ff]amily)?,? ["“‘](${oneName})["”’]`,
  'gu',
);
export const quotedAfterActor = new RegExp(
  String.raw`(?<!\bnet )\b(?:[Gg]roup|[Gg]ang|[Cc]rew|[Aa]ctor|[Hh]ackers|[Cc]luster|[Uu]nit|[Cc]ollective),? ["“‘](${oneName})["”’]`,
  'gu',
);
/** A remote access tool whose kind is part of its name: `Foobar RAT`. */
export const ratNames = new RegExp(
  String.raw`${startOfName}(${namedOnce}(?: \p{Lu}[\p{L}\p{N}-]{1,20})? RAT)${endOfName}`,
  'gu',
);
/** A malware that another one comes from: `a variant of Foobar`. */
export const variantOf = new RegExp(String.raw`\b[Vv]ariants? of ${name}`, 'gu');

const groupNoun =
  '[Tt]hreat [Aa]ctors?|[Tt]hreat [Gg]roups?|[Hh]acking [Gg]roups?|[Hh]acker [Gg]roups?|[Cc]ybercrime [Gg]roups?|[Ee]spionage [Gg]roups?|[Ee]xtortion [Gg]roups?|(?:apt|APT)(?: [Gg]roups?)?|[Aa]dvanced [Pp]ersistent [Tt]hreat|hackers|gangs?|[Oo]perators|[Ii]ntrusion [Ss]ets?|[Rr]ansomware (?:[Gg]roups?|[Gg]angs?|[Oo]perators|[Cc]rews?)';
/** A name right before what its bearers are: `Foobar threat actors`. */
export const beforeActor = new RegExp(
  String.raw`${startOfName}${name}["”’']? (?:${groupNoun}|group (?:has|have|is|was|claimed|targeted|used|uses|also|then|targets|attacked|attacks|deployed|deploys|exploited|breached|compromised|hacked|stole|leaked|encrypted))\b(?!-\p{Lu})`,
  'gu',
);

export const definedMalware =
  'ransomware|malware|trojan|backdoor|rat|remote access trojan|stealer|infostealer|info-stealer|loader|downloader|dropper|botnet|worm|wiper|rootkit|bootkit|spyware|keylogger|implant|phishing kit|phishing-as-a-service|exploit kit|banker|cryptominer|miner|cryptojacking campaign|launcher|tunneler|crypter|stager|web ?shell|EDR killer|C2 framework|command-and-control framework|skimmer|clipper|traffic distribution system|malware-as-a-service';
const definedActor =
  'threat actor|threat group|spy group|sub-?group|(?:hacking|hacker|espionage|cyber) (?:unit|team)|hacking group|hacker group|ransomware group|ransomware gang|cybercrime group|cyber ?espionage group|espionage group|apt group|APT group|apt|APT|[Aa]dvanced [Pp]ersistent [Tt]hreat|intrusion set|activity cluster|threat cluster|hacktivist group|(?:hacktivist|hacking|cybercrime|extortion) (?:collective|crew|gang|outfit)|extortion group|access broker|hackers|(?:\\p{L}+-)?(?:motivated|sponsored|backed|aligned|linked|nexus|affiliated|mercenary) (?:(?:APT|threat|espionage|hacking|cyber) )?(?:group|actor|gang|collective|cluster|operation)';
/** Excludes people who have to do with a group or malware: `Foo Bar, the alleged leader of the Foobar ransomware group`. */
const noPerson = String.raw`(?!(?:[\p{L}-]+ ){0,3}(?:leader|member|head|founder|co-founder|developer|administrator|admin|author|creator|researcher|analyst|expert|director|affiliate|victim|target|maker|vendor|provider|company|firm)\b)`;
const wordsBetween = (min: number, max: number): string => String.raw`(?:[(]?[\p{L}\d/.+#-]+[)]? ){${min},${max}}`;
// `Using PowerShell, the actor connected` refers to an actor that was mentioned before.
const definition = String.raw`(?: \([^()]{3,80}\))?(?:,(?: meanwhile,| in turn,| by contrast,| on the other hand,| however,| for instance,| for example,)?(?: is| was)?| is| was|:| –| —| -) ${noPerson}(?:(?:an?|one of the) ${wordsBetween(0, 5)}|the (?!same )${wordsBetween(1, 5)})`;
/** Malware needs no article: `Foobar, experimental malware that …`. */
const massNoun = String.raw`, ${wordsBetween(0, 3)}(?:malware|ransomware|spyware) (?:that|which|designed|used|capable|written|able)\b`;
const inBrackets = String.raw` \(${noPerson}an? ${wordsBetween(0, 5)}`;
const noFirm = String.raw`(?:s|es)?\b(?! (?:compan|vendor|research|expert|analyst|firm|protection|detection|removal|specialist|hunter|news|intelligence|campaign|attack|operation|infection|activit))`;
const definitions = new RegExp(
  String.raw`${startOfName}${name}["”’']?(?:${definition}|${inBrackets})(?:${definedMalware}|(${definedActor}))${noFirm}`,
  'gu',
);
const massDefinitions = new RegExp(String.raw`${startOfName}${name}["”’']?${massNoun}`, 'gu');
/** A line of a glossary: `- Foobar: A modular implant`, `Foobar – Python-based backdoor`. */
const glossaryLines = new RegExp(
  String.raw`^\s*(?:[-*•–] |\d+\. )?\*{0,2}["“]?(${oneName})["”]?\*{0,2}(?: \([^()\n]{2,30}\))?(?::\*{0,2}| [–—-]) (?:[Aa]n? )?(?:(?:(?!(?:the|its|their|this|these|an?) )[\p{L}\d.+/-]+,? ){0,4}(?:${definedMalware})|(?:${inHeadlinesToo(definedMalware)})(?= (?:that|which|used|written|for|in|with)\b))${noFirm}`,
  'gu',
);
/** A name after `malware`. `The malware Foobar found` may be what a company found. */
const afterMalware = new RegExp(
  String.raw`(?<=\b(?:[Tt]he|[Aa]n?) (?:[\p{L}-]+ ){0,2})malware ["“‘']?((?:\p{Lu}\p{Ll}+\p{Lu}|\p{Lu}{5}|\p{Lu}\p{L}*\d)[\p{L}\d]*)(?![\p{L}\d-])(?! (?:found|calls?|named?|tracks?|detect|discover|analy[sz]|describ|report|identif|dubb|observ|saw\b))`,
  'gu',
);
/** A name set off after its kind: `a Linux botnet, Foobar, that …`. */
export const appositions = new RegExp(
  String.raw`\b(?:[Aa]n?|[Tt]he|new|[Tt]his|[Ii]ts|[Tt]heir|based) (?:[\p{L}\d+#.-]+ ){0,4}(?:${inHeadlinesToo(definedMalware)}|[Pp]ayload|[Vv]ariant|(?:malicious|custom|bespoke|proprietary) (?:[\p{L}\d+#.-]+ ){0,2}(?:module|tool|utility|script|program|component|plugin|driver)|[Mm]alware (?:toolkit|framework|family|suite))(?: \(RAT\))?, ["“‘']?(${namedOnce}(?: RAT)?|${oneName}(?=, (?:which|was|were|has)\b))["”’']?(?=, |\.(?:\s|$))`,
  'gu',
);
const actorAppositions = new RegExp(
  String.raw`\b(?:[Tt]he|[Aa]n?) (?:[\p{L}\d-]+ ){0,4}(?:group|gang|crew|collective|actor), ["“‘']?(${oneName})["”’']?(?=, |\.(?:\s|$))`,
  'gu',
);
/** A program that somebody installs: `deployed a tool called Foo Bar`. */
export const deployedTools = new RegExp(
  String.raw`\b(?:[Dd]eploy|[Dd]ropp?|[Ii]nstall|[Ii]ntroduc|[Dd]eliver|[Ii]mplant|[Ee]xecut|[Ll]aunch)(?:e?s|ed|ing)? (?:an?|the|another|its|their) (?:[\p{L}-]+ ){0,4}(?:tool|utility|program|script|implant|payload|component|toolkit) (?:called|named|dubbed|known as|tracked as) ${name}`,
  'gu',
);
/** A program that attackers use: `the hackers are using a tool called Foobar`. */
export const attackersTools = new RegExp(
  String.raw`\b(?:[Cc]ybercriminals|[Cc]riminals|[Aa]ttackers?|[Hh]ackers|[Aa]ctors?|[Gg]roup|[Gg]ang|[Oo]perators|[Aa]ffiliates|[Aa]dversary|[Ii]ntruders) [^.;:]{0,60}?\b(?:us(?:e|es|ed|ing)|r[au]n(?:ning|s)?|with) (?:an?|the) (?:[\p{L}-]+ ){0,3}(?:tool|utility|program|script|toolkit) (?:called|named|dubbed|known as) ${name}`,
  'gu',
);
/** A numbered designation of any publisher before its kind: `ABC-123 group`. */
const designations = /(?<![\p{L}\p{N}-])(\p{Lu}{2,6}-\d{2,5}) (?:[Gg]roup|(?:threat )?actors?|cluster)\b/gu;
/** A name that ends with what the group calls itself: `the Foobar Gang`. */
export const crews = new RegExp(String.raw`${startOfName}(${namedOnce} (?:Gang|Crew|Cartel))${endOfName}`, 'gu');
/** A name with numbered designations of actors in brackets: `Foobar (aka UNC1234)`. */
export const withDesignations = new RegExp(
  String.raw`${startOfName}${name}["”’']? \((?:(?:aka|a\.k\.a\.|also known as|also tracked as|tracked as|formerly)[^)]{0,80}?\b)?(?:UNC\d{3,5}|TA\d{3,4}|UAC-\d{4}|Storm-\d{3,4}|APT-?\d{1,3}|REF\d{4}|(?:CL|TGR)-[A-Z]{3}-\d{4}|FIN\d{1,2})\b`,
  'gu',
);

/** Phishing kits that bypass a second factor: `the Foobar 2FA kit`, `Foobar 2FA is`. */
export const phishingKits =
  /(?<![\p{L}\p{N}_-])(\p{Lu}\p{Ll}{3,14} 2FA)(?=[’']s\b| (?:is|was|has|operated|operates|uses|used|allows|allowed|targets|targeted|phishing|kits?|platform|service|infrastructure|takedown|operation|operators)\b)/gu;

/** What stands after the name of ransomware, but not after that of its victim: `the Foo Bar ransomware attack`. */
export const ofRansomware =
  /^(?: [Rr]ansomware (?:gangs?|groups?|operat\w+|affiliates?|crews?|encrypts|encryptor|payloads?|binar(?:y|ies)|family|strain|was|is|has|uses|deploys|claimed)| gang| ransomware-as-a-service)\b/;

type Definition = { kind: 'actor' | 'malware'; pattern: RegExp; needs?: RegExp };
/**
 * A name with what it is right after or before it: `Foobar, a new backdoor`, `Foobar is a threat actor`. A second group is a noun for an
 * actor. `needs` is part of every match and saves the search in most sentences.
 */
export const defined: Definition[] = [
  {
    kind: 'malware',
    pattern: definitions,
    needs: /(?:,| is| was|:| –| —| -) (?:an?|one of the|the) | \(an? /,
  },
  { kind: 'malware', pattern: glossaryLines, needs: /^.{2,80}(?::\*{0,2}| [–—-]) / },
  {
    kind: 'malware',
    pattern: massDefinitions,
    needs: /, [^,.;]*(?:mal|ransom|spy)ware (?:that|which|designed|used|capable|written|able)\b/,
  },
  { kind: 'malware', pattern: afterMalware, needs: /malware ["“‘']?\p{Lu}/u },
  { kind: 'malware', pattern: appositions },
  { kind: 'malware', pattern: deployedTools, needs: / (?:called|named|dubbed|known as|tracked as) / },
  { kind: 'malware', pattern: phishingKits, needs: / 2FA.*(?:[Pp]hish|PhaaS|AiTM)|(?:[Pp]hish|PhaaS|AiTM).* 2FA/ },
  {
    kind: 'malware',
    pattern: attackersTools,
    needs: /(?:tool|utility|program|script|toolkit) (?:called|named|dubbed|known as) /,
  },
  { kind: 'actor', pattern: actorAppositions },
  { kind: 'actor', pattern: designations, needs: /[A-Z]-\d\d/ },
  { kind: 'actor', pattern: crews, needs: / (?:Gang|Crew|Cartel)\b/ },
  { kind: 'actor', pattern: withDesignations, needs: / \([^)]{0,120}\d{2}/ },
];

/** Naming schemes of publishers, which need no introduction. */
export function* matchSchemes(text: string): Generator<RegExpExecArray> {
  let read = 0;
  for (const { index } of findMatches(schemeWord, text)) {
    schemes.lastIndex = Math.max(read, index - schemeMaxChars);
    const match = schemes.exec(text.slice(0, index + schemeMaxChars));
    if (!match || match.index > index) continue;
    read = schemes.lastIndex;
    yield match;
  }
}
const schemeMaxChars = 18;
/** The words of which a name by a scheme has one. */
const schemeWord =
  /\b(?:Typhoon|Blizzard|Sleet|Sandstorm|Tempest|Tsunami|Cyclone|PANDA|BEAR|KITTEN|CHOLLIMA|SPIDER|JACKAL|LEOPARD|TIGER|WOLF|OCELOT|CRANE|LYNX|HAWK|BUFFALO|Panda|Kitten|Chollima|Spider|GOLD|BRONZE|IRON|COBALT|NICKEL|TIN|ZINC|ALUMINUM|Taurus|Ursa|Serpens|Scorpius|Libra|Draco|Pisces|Virgo|Earth)\b/g;
const schemes =
  /\b(?:(?!The |A |New |Super )\p{Lu}\p{Ll}{2,14} (?:Typhoon|Blizzard|Sleet|Sandstorm|Tempest|Tsunami|Cyclone)|[A-Z]{3,14} (?:PANDA|BEAR|KITTEN|CHOLLIMA|SPIDER|JACKAL|LEOPARD|TIGER|WOLF|OCELOT|CRANE|LYNX|HAWK|BUFFALO)|\p{Lu}\p{Ll}{2,14} (?:Panda|Kitten|Chollima|Spider)|(?:GOLD|BRONZE|IRON|COBALT|NICKEL|TIN|ZINC|ALUMINUM) [A-Z]{4,14}|\p{Lu}\p{Ll}{2,14} (?:Taurus|Ursa|Serpens|Scorpius|Libra|Draco|Pisces|Virgo)|Earth (?!Day|(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day|Science|Sciences|Engine|Observation)\p{Lu}\p{Ll}{3,14})\b/gu;

const afterNouns =
  '(?:mal|spy)ware|[Tt]rojan|backdoor|[Ss]tealer|[Ii]nfostealer|botnet|worm|wiper|rootkit|implant|[Pp]hishing kit|[Mm]alware-as-a-[Ss]ervice|variant|[Rr]ansomware operation';
const nounInHeadline = 'Malware|Ransomware|Spyware|Trojan|Backdoor|Stealer|Infostealer|Botnet|Worm|Wiper|Rootkit|RAT';
const nextInProse =
  '[,.;:]|$| (?:that|which|was|is|has|and|targets|targeting|steals|stealing|spreads|spreading|uses|using|exploits|exploiting|infects|infecting|adds|to|in|on|via|from|with|collects|contacts|connects|downloads|loads|drops|encrypts|allows|enables|provides|runs|can|then|also)\\b';
const nextInHeadline =
  ' (?:Targets|Targeting|Steals|Stealing|Spreads|Spreading|Uses|Hits|Exploits|Infects|Abuses|Hides|Evades|Emerges|Returns|Strikes|Attacks|Adds|Lets|Via)\\b';

/** A name right after its kind, without an article: `commercial spyware Foobar`. */
export const afterKind = new RegExp(
  String.raw`\b(?:${afterNouns})(?<=(?:^|[\p{Ll}\d] |, )(?:${afterNouns})) ["“‘]?(${namedOnce})["”’]?(?=${nextInProse})`,
  'gu',
);
/** `New Android Malware Foobar Targets Banks`. */
export const afterKindInHeadline = new RegExp(
  String.raw`\bNew (?:[\p{Lu}]\S+ ){0,3}(?:${nounInHeadline}) ["“‘]?(${namedOnce})["”’]?(?=${nextInHeadline})`,
  'gu',
);
/** `New Ransomware Group Foobar Targets Hospitals`. */
export const afterActorInHeadline = new RegExp(
  String.raw`\bNew (?:[\p{Lu}]\S+ ){0,3}(?:Group|Gang|Crew|Collective|Actor|APT) ["“‘]?(${namedOnce})["”’]?(?=${nextInHeadline.replace('Targets|', 'Targets|Claims|Leaks|Lists|')})`,
  'gu',
);
/** A name in brackets after its kind: `a backdoor (Foobar)`. Short acronyms explain the noun. */
export const bracketedMalware = new RegExp(
  String.raw`\b(?:${malwareNoun}|payload) \(["“‘]?((?!\p{Lu}{2,6}\)|\p{L}{1,6}aaS\))${oneName})["”’]?\)`,
  'gu',
);
/** Malware of which there is a new version: `an updated version of Foobar`. */
export const versionOf =
  /\b(?:new|newer|updated|latest|improved|modified|customized|undocumented|Linux|Windows|Android|macOS) version of (?:the )?["“‘]?(\p{Lu}[\p{L}\d]{4,20})(?![\p{L}\p{N}_.-])/gu;
