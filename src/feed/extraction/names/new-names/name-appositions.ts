import { malwareNoun, namedOnce, oneName } from './new-name-patterns.ts';

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
