import { cue } from '../lexicon/lexicon.ts';
import type { Span } from '../text/stored-text.ts';
import { isGenericName } from './generic-names.ts';
import type { NameKind } from './dictionary/name-dictionary.ts';

/** The number of characters to examine on each side of a name. */
const reach = 48;

const malware =
  'ransomware|malware|trojan|backdoor|rat|stealer|infostealer|loader|downloader|dropper|botnet|bot|worm|wiper|rootkit|bootkit|spyware|keylogger|implant|payloads?|samples?|variants?|family|families|banker|miner|cryptominer|framework|toolkit|beacons?|exploit kit|infections?|raas|strain';
const actor =
  'group|gang|apt|actors?|operators?|team|affiliates?|cartel|threat actor|adversary|adversaries|hackers?|crew|cyberespionage|espionage group|intrusion set|subgroup|attributed to|linked to|cluster|syndicate';
const handling =
  'deploy(?:s|ed|ing)?|drop(?:s|ped|ping)?|deliver(?:s|ed|ing)?|distribut(?:e|es|ed|ing)|load(?:s|ed|ing)';
const calling = `dubbed|called|named|known as|tracked as|tracks as|aka|a\\.k\\.a\\.?|refer(?:red)? to as|identified as|${handling}`;
const opening = String.raw`\s+(?:the\s+)?["“‘']?$`;

const ofMalware = new RegExp(`\\b(?:${malware})\\b`, 'i');
const ofActor = new RegExp(`\\b(?:${actor})\\b`, 'i');
const ofEither = new RegExp(`\\b(?:${malware}|${actor})\\b`, 'i');
// In a headline, a verb follows the plural: `Hackers Crash the Party`.
const justBefore = new RegExp(
  `\\b(?:${malware}|${actor})(?<!(?:actors|operators|affiliates|hackers|adversaries)) ["“‘']?$`,
  'i',
);
const apposition = new RegExp(
  `^(?:,? \\(?(?:also (?:known|tracked|referred to) as|also called|aka|a\\.k\\.a)|, an? (?:[\\w-]+ ){0,3}(?:tool|utility|${malware})| (?:is|was) an? (?:[\\w-]+ ){0,3}(?:ransomware|malware|trojan|backdoor|stealer|infostealer|loader|botnet|worm|wiper|rootkit|spyware|threat actor|(?:threat|hacking|espionage|ransomware|extortion|cybercrime) group|gang))\\b`,
  'i',
);
/** Before what attackers use: `The attackers used Foobar to`, `The group ran Foobar and`. */
const attackersUse =
  /\b(?:attackers?|(?:threat )?actors?|groups?|gangs?|crews?|hackers|operators?|affiliates?|adversar(?:y|ies)|intruders?|cluster|they|UNC\d{4}|TA\d{3,4}|APT\d{1,2}|Storm-\d{4}|FIN\d{1,2}) (?:[\p{L}-]+ ){0,4}(?:us(?:es|ed)|using|ran|run(?:s|ning)?|execut(?:es|ed|ing)|load(?:s|ed|ing)?|launch(?:es|ed|ing)|install(?:s|ed|ing)|leverag(?:es|ed|ing)|abus(?:es|ed|ing)|rel(?:ies|ied|ying) on|employ(?:s|ed|ing)) (?:the |an? |both )?["“‘]?$/iu;
const endOfTool =
  /^["”’]?(?:[.,;)]|$| (?:to|for|and|or|as|on|in|at|with|via|which|during|before|after|implants?|beacons?|demons?|agents?)\b)/;
const attackersReach = 100;

const using = new RegExp(`\\b(?:${handling}|using|used|uses|via|leverag(?:e|es|ed|ing))${opening}`, 'i');
const introducing = new RegExp(
  `\\b(?:${calling}|(?:associated|affiliated) with|(?:attributed|linked) to)${opening}`,
  'i',
);

/** Stands between a name and its kind: `the Foobar banking trojan`. */
const platform =
  /^ (?:[Bb]anking|[Mm]obile|[Aa]ndroid|[Ll]inux|[Ww]indows|macOS|iOS|[Rr]emote[- ][Aa]ccess|[Ii]nformation|[Cc]redential|DDoS|IoT|ESXi)(?= \p{L})/u;

/** What belongs to an actor: `Turla’s tools`. */
const possession =
  /^[’']s (?:[\p{L}-]+ ){0,3}(?:malware|tools?|toolset|toolkit|arsenal|backdoors?|campaigns?|operations?|infrastructure|victims?|targets?|ttps|tactics|operators|members)\b/iu;
const listReach = 90;
const listItems = String.raw`(?:the )?(?:[\p{Lu}\d][\p{L}\d-]*(?: [\p{Lu}\d][\p{L}\d-]*){0,2}(?: \(\d+\))?(?:, and |, or |, | and | or )){0,5}$`;
const inList = String.raw`(?:(?:,| ?[—–]|(?: [\p{L}-]+)?) ?(?:such as|including|namely)| like|,? (?:called|named|dubbed|led by)|(?: [\p{L}-]+){0,5} (?:include|were|are)) ${listItems}`;
// Case-sensitive: only capitalized words are items of a list.
const listOfActors = new RegExp(
  String.raw`\b(?:[Gg]roups|[Aa]ctors|[Gg]angs|[Hh]ackers|[Cc]lusters|[Cc]rews|[Aa]ffiliates|[Oo]perators|APTs|[Aa]dversaries|[Pp]layers|[Ll]eak sites|[Mm]onikers|(?:under|by|with) (?:the )?(?:aliases|names)|(?:ransomware|extortion|prolific|criminal|RaaS) (?:operations|schemes|brands|outfits))${inList}|\b(?:[Gg]roups|[Gg]angs|[Cc]rews|[Cc]lusters|[Aa]ctors):? ${listItems}|\b(?:[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]everal|[Bb]oth) (?:[\p{L}-]+ ){0,4}(?:groups|gangs|crews|actors), ${listItems}`,
  'u',
);
const listOfMalware = new RegExp(
  String.raw`\b(?:malware|families|trojans|backdoors|loaders|stealers|infostealers|rats|strains|payloads|botnets)${inList}`,
  'iu',
);

/** `Foo, Bar and Baz ransomware gangs` after the first name. */
const listedName = String.raw`["“‘]?[\p{Lu}\d][\p{L}\d.]*(?: [\p{Lu}\d][\p{L}\d.]*){0,2}["”’]?`;
const ofGroups = '(?:ransomware |extortion |hacking |threat |cybercrime |espionage )*';
const actorsAfter = new RegExp(
  String.raw`^(?:(?:, ${listedName}){0,3}(?:,? and | & )${listedName} ${ofGroups}(?:groups|gangs|crews|actors|operators|affiliates|claim(?:s|ed) (?:[\p{L}\d-]+ ){0,2}(?:victims|attacks|responsibility))| ${ofGroups}(?:groups|gangs|crews))\b`,
  'u',
);

/** Returns whether a name stands in a list of actors: `groups such as Foo and`, `Foo and Bar gangs`. */
export const isInActorList = (text: string, { start, end }: Span): boolean =>
  listOfActors.test(text.slice(Math.max(0, start - listReach), start)) ||
  actorsAfter.test(text.slice(end, end + listReach));

const foreignGang =
  /(?:\b(?:[Rr]ansomware|[Hh]acker|[Ee]rpresser|[Aa]ngreifer|APT)-?(?:[Gg]ruppe|[Bb]ande)n?|\b(?:groupe|grupo|gruppo|banda|bande|gang) (?:de |di )?(?:ransomware|rançongiciels?|hackers?|pirates|ciberdelincuentes|cybercriminels?)|(?<!\p{L})(?:хакерск|кибер|вымогател)\p{L}* груп\p{L}*) ["“«„]?$/u;

/** Returns whether the words around a name make it that of the people: `Qilin gang`, `affiliates of Qilin`. */
export const isGang = (text: string, { start, end }: Span): boolean =>
  (/\boperators (?:of|behind) (?:the )?$/i.test(text.slice(Math.max(0, start - reach), start)) &&
    /^ (?:ransomware|raas)\b/i.test(text.slice(end, end + reach))) ||
  (/\b(?:gang|group) behind (?:the )?$/i.test(text.slice(Math.max(0, start - reach), start)) &&
    !/^(?:\/\S+)? (?:ransomware|malware|attacks?|botnet|backdoor|trojan)\b/i.test(text.slice(end, end + reach))) ||
  /^(?: \([^()\n]{2,30}\))?(?:[’']s)? (?:ransomware |extortion |raas |cybercrime )*(?:(?<=ransomware )(?:actors|operators)|gang|group|affiliates?|crew|cartel|syndicate|collective|hackers|threat (?:actors?|group)|(?:hacking|espionage|apt) group|(?:data )?leak (?:site|blog)|extortion|(?:former |core |alleged )?members|(?:(?:has|have) )?(?:leaked|rebranded|extorted|threatened|demanded)|claim(?:s|ed) (?:responsibility|the attack|to have))\b/i.test(
    text.slice(end, end + reach),
  ) ||
  /^ (?:is|was) an? (?:[\w-]+ ){0,3}(?:group|gang|crew|collective)\b/.test(text.slice(end, end + reach)) ||
  /^, [^,.;]{3,80}, claim(?:s|ed) responsibility\b/.test(text.slice(end, end + listReach + reach)) ||
  foreignGang.test(text.slice(Math.max(0, start - reach), start)) ||
  /\b(?:affiliates?|gang|group) (?:of|called|named|known as) (?:the )?$|\b(?:ransomware|extortion|hacking|cybercrime) (?:gang|group|crew) $/i.test(
    text.slice(Math.max(0, start - reach), start),
  );

/** Returns whether the words that make a name that of the people also call it malware: `Qilin ransomware gang`. */
export const isMalwareGang = (text: string, { start, end }: Span): boolean =>
  /^(?:[’']s)? (?:ransomware|raas|malware|botnet|stealer)\b/i.test(text.slice(end, end + 14)) ||
  /\b(?:ransomware|raas|malware|botnet) (?:(?:gang|group|crew),? )?$/i.test(text.slice(Math.max(0, start - 24), start));

/**
 * Returns whether a cue stands right before a name, or after it with at most one capitalized word between them. A cue further away may belong to
 * another name.
 */
export function isBesideCue(text: string, { start, end }: Span): boolean {
  const after = text
    .slice(end, end + reach)
    .replace(/^[’']s|^["”’']/, '')
    .replace(platform, '');
  if (apposition.test(after)) return true;
  const next = /^[ -]?(?:\p{Lu}\w*[ -])?\S+(?: \S+)?/u.exec(after)?.[0] ?? '';
  const at = next.search(ofEither);
  if (at >= 0 && (at <= 1 || /^ \p{Lu}\w*[ -]$/u.test(next.slice(0, at)))) return true;
  const before = text.slice(Math.max(0, start - reach), start);
  return justBefore.test(before) || introducing.test(before) || isOfAttackers(text, { start, end });
}

const isOfAttackers = (text: string, { start, end }: Span): boolean =>
  endOfTool.test(text.slice(end, end + reach)) &&
  attackersUse.test(text.slice(Math.max(0, start - attackersReach), start));

const connected = /\b(?:attributed|linked) to(?: the)?$/i;
const ofOperation = /^ (?:operations?|campaigns?|infrastructure|attacks?|botnet|service)\b/;
const handles = new RegExp(String.raw`^ (?:(?:has|have|had) )?(?:\w+ly |also |then )?(?:${handling}|us(?:es|ed)) `);

/** Guesses the kind of a name from the words beside it. */
export function guessKind(text: string, { start, end }: Span): NameKind | undefined {
  const after = text
    .slice(end, end + reach)
    .replace(/^[’']s/, '')
    .split(/[.;:\n!?]|\s[–-]\s/)[0]!;
  const before = text
    .slice(Math.max(0, start - reach), start)
    .split(/[.;:\n!?]/)
    .at(-1)!;
  // `Foobar used the wiper`: the noun is what Foobar handles.
  const next = handles.test(after) ? '' : after.trim().split(/\s+/).slice(0, 3).join(' ');
  if (possession.test(text.slice(end, end + reach)) || isInActorList(text, { start, end })) return 'actor';
  if (listOfMalware.test(text.slice(Math.max(0, start - listReach), start))) return 'malware';
  if (
    ofMalware.test(next) &&
    next.search(ofMalware) < 24 &&
    !(ofActor.test(next) && next.search(ofActor) < next.search(ofMalware))
  )
    return 'malware';
  if (ofActor.test(next)) return 'actor';
  const last = before.trim().split(/\s+/).slice(-3).join(' ');
  // Another clause begins: `the operator said Foobar`.
  if (/\b(?:said|says|told|that|which|who)$/.test(last)) return undefined;
  // `The group deployed Foobar`: the verb beside the name decides.
  if (using.test(before)) return 'malware';
  // `Linked to the Foobar operation` says nothing about the kind.
  if (connected.test(last) && ofOperation.test(after)) return undefined;
  if (ofActor.test(last)) return 'actor';
  return ofMalware.test(last) ? 'malware' : undefined;
}

/**
 * Returns whether an everyday word is part of a longer proper name, such as that of a company: a capitalized word follows it that says
 * nothing about its kind. `Foobar Health`, but not `Foobar Ransomware`.
 */
export function isInLongerName(text: string, { start, end }: Span): boolean {
  if (/\bThreat $/.test(text.slice(Math.max(0, start - 8), start))) return true;
  const next = /^ (\p{Lu}\p{Ll}{2,})(?=[\s,.;:)’'”"]|$)/u.exec(text.slice(end, end + 24))?.[1];
  return next !== undefined && (company.test(next) || (!ofEither.test(next) && !isGenericName(next)));
}

const company = /^(?:Labs|Security|Networks|Intelligence|Research|Software|Systems|Technologies)$/;

/** Programs of Windows, which reports mention as commands. */
const systemProgram =
  /^(?:whoami|wmic|nltest|certutil|bitsadmin|vssadmin|wevtutil|netsh|dsquery|quser|klist|schtasks|tasklist|systeminfo|ipconfig|ifconfig|taskkill|netstat|nbtstat|esentutl|powershell|rundll32|regsvr32)$/i;
const toolList =
  /\b(?:tools?|utilities|using|used|including|such as|like|via|deploy(?:s|ed|ing)?|execut(?:es|ed|ing)|ran|running)\s(?:the )?(?:[\w.-]+(?: [\w.-]+)?(?:, and |, or |, | and | or )){0,5}$/i;

/** Returns whether a lower-case name stands in a list of tools or right after the verb of their use. */
export const isListedTool = (text: string, start: number, printed: string): boolean =>
  !systemProgram.test(printed) && toolList.test(text.slice(Math.max(0, start - listReach), start));

const flawAfter =
  /^(?: \p{Lu}\w+)?(?:[’']s)?(?: [\p{L}-]+)? (?:vulnerabilit\w+|flaws?|bugs?|zero[- ]days?|servers|instances|appliances|patch(?:es)?)\b/iu;
const flawBefore =
  /\b(?:CVE-\d{4}-\d{4,7},? (?:in|affecting|impacting) |(?:vulnerabilit\w+|flaws?|bugs?|zero[- ]days?)(?: \([^()]{3,40}\))? (?:in|affecting|impacting) (?:[\p{L}-]+ ){0,3}|(?:affects|impacts) (?:[\p{L}-]+ ){0,5}|(?:unpatched|vulnerable|exploited|exploiting) )$/iu;

/** Returns whether a text speaks of the weakness of a program, which makes it a product of the victims: `unpatched Foobar servers`. */
export const isFlawed = (text: string, { start, end }: Span): boolean =>
  flawAfter.test(text.slice(end, end + reach)) || flawBefore.test(text.slice(Math.max(0, start - 100), start));

/** Returns whether a program is one that somebody uses: `installed Foobar`. */
export const isUsedTool = (text: string, { start }: Span): boolean =>
  using.test(text.slice(Math.max(0, start - reach), start)) ||
  toolInstalled.test(text.slice(Math.max(0, start - reach), start));
const toolInstalled =
  /\b(?:install(?:s|ed|ing)?|execut(?:e|es|ed|ing)|launch(?:es|ed|ing)?|download(?:s|ed|ing)?) (?:the )?$/i;

const platformOfDetection =
  /\b(?:Win(?:32|64|Go)?|MSIL|JS|VB[AS]|Linux|OSX|Android|Python|PowerShell|Java|PHP|HTML|BAT|Trojan)\/$/;

/** Returns whether the slash before a name joins two names (`Emotet/TrickBot`) rather than parts of a path or detection (`Win32/Emotet`). */
export const isSlashList = (text: string, start: number): boolean =>
  /(?:^|[\s(“"'[])\p{Lu}[\w-]{2,30}\/$/u.test(text.slice(Math.max(0, start - 36), start)) &&
  !platformOfDetection.test(text.slice(Math.max(0, start - 12), start));

const organizationReach = 30;

/** Returns whether words before the end of a name begin the name of a shop or club: `the Turla cycling club`, `Turla House, a charity`. */
export function isOfOrganization(text: string, end: number): boolean {
  const after = text.slice(end, end + organizationReach);
  const noun = cue('organizationNouns').exec(after);
  return noun !== null && /^(?: \p{Lu}[\p{L}-]+, an?)? (?:[\p{L}-]+ )?$/u.test(after.slice(0, noun.index));
}
