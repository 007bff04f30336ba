import { nameKey } from '../../../reference-data/name-forms.ts';
import { isGenericName } from '../generic-names.ts';
import { readItems, type NameList } from './new-name-lists.ts';
import { oneName } from './new-name-patterns.ts';
import type { AddName } from './new-name.ts';
import { isDistinctive, isOtherName, isOrganization, trimName } from './usable-names.ts';
import { findMatches } from '../../text/find-matches.ts';

const noun =
  /\b(?:[Tt]ool(?:s|kits?|sets?)?|[Uu]tilit(?:y|ies)|[Ss]oftware|[Pp]rograms?|[Ff]rameworks?|[Cc]lients?|[Ss]canners?|[Aa]gents?)\b/g;
/** Purposes for which attackers use programs that need not be malware. */
const purpose =
  'remote (?:access|administration|control|desktop|monitoring(?: and management)?)|RMM|tunnel(?:l?ing)?|prox(?:y|ying)|(?:credential|password)[- ](?:dumping|stealing|harvesting|theft|recovery)|(?:network|port|vulnerability|web|AD|Active Directory) (?:scanning|reconnaissance|enumeration|discovery|scanner)|reconnaissance|post-exploitation|lateral movement|privilege[- ]escalation|(?:data )?exfiltration|(?:data|file)[- ](?:transfer|synchronization|sharing)|penetration[- ]testing|red[- ]team(?:ing)?|adversary (?:simulation|emulation)|hacking|offensive security|brute[- ]forc(?:e|ing)|EDR[- ]kill(?:er|ing)|command[- ]and[- ]control|C2|C&C|SSH|anti-rootkit';
const origin =
  'legitimate|open[- ]source|off-the-shelf|publicly available|dual-use|living-off-the-land|commodity|bespoke|custom(?:-built|-made)?|malicious|attack';
const acronym = String.raw`(?: \(\p{Lu}[\p{L}]{1,5}\))?`;

/** A program right before what it does: `Foobar remote access tool`. */
const nameBefore = new RegExp(
  String.raw`(?<![\p{L}\p{N}_./-])(${oneName})["”’']? (?:(?:${origin}) )?(?:${purpose})${acronym} $`,
  'u',
);
const isQualified = new RegExp(String.raw`\b(?:${purpose}|${origin})${acronym} $`, 'iu');
/** A program set off after what it is: `a bespoke tool, Foobar, designed to`. */
const nameAfter = new RegExp(String.raw`^,? ["“‘]?(${oneName})["”’]?(?=, |\.(?:\s|$)| (?:to|for)\b)`, 'u');
const isUsed =
  /\b(?:use|uses|used|using|deploy(?:s|ed|ing)?|leverag(?:e|es|ed|ing)|abus(?:e|es|ed|ing)|install(?:s|ed|ing)?|download(?:s|ed|ing)?|drop(?:s|ped|ping)?|relied on|relying on) (?:[\p{L}-]+ ){0,3}$/u;
const examples =
  /^(?: \([^()\n]{2,20}\))?(?: (?:for|to) [^,.;:\n]{3,40}?)?,? (?:such as|like|including|namely|e\.g\.,?) (?=["“‘]?[\p{Lu}\d])/u;
/** `The open-source tools Foo and Bar` */
const joined = /^ (?=["“‘]?\p{Lu}[^,.;]{1,60}(?:,| and ))/u;
/** `One of the tools was Foobar`, `Tools: Foo, Bar`. */
const isHead = /\b(?:the|these) $|^\s*(?:[-*•–] )?\*{0,2}(?:\p{Lu}[\p{L}-]+(?: \p{Ll}+)? )?$/u;
const isList = /^(?:(?: used| observed| deployed)?:\*{0,2}| (?:was|is|were|are)) (?=["“‘]?[\p{Lu}\d])/u;
const reach = 100;
/** Excludes programs with a weakness, which are products, and tools of defenders and office workers. */
const isElse =
  /\b(?:CVE-\d|vulnerabilit|flaws?\b|zero-day|(?:security|collaboration|productivity|AI|detection|developer|administrative) tools)/i;

/** A program that attackers use, before what it is: `used Foobar, a legitimate monitoring tool`. */
const apposedTool = new RegExp(
  String.raw`\b(?:[Uu]s(?:es|ed|ing)|[Dd]eploy(?:s|ed|ing)|[Ll]everag(?:es|ed|ing)|[Aa]bus(?:es|ed|ing)|[Ii]nstall(?:s|ed|ing)) ["“‘]?(${oneName})["”’]?, an? (?:[\p{L}-]+ ){1,5}(?:tool|utility|program|software|framework)\b`,
  'gu',
);

/** Programs that offices use, too, which the lists therefore lack. */
const remoteAccess = /\b(?:AnyDesk|TeamViewer)\b/g;
const isInstalled =
  /\b(?:us(?:e|es|ed|ing)|deploy(?:s|ed|ing)?|leverag(?:e|es|ed|ing)|abus(?:e|es|ed|ing)|install(?:s|ed|ing)?|download(?:s|ed|ing)?|drop(?:s|ped|ping)?|relied on|relying on|via) (?:[\p{L}\d.-]+,? ){0,6}["“‘]?$/u;

/** Adds the tools that a sentence introduces by what they do or by a list of tools. */
export function readTools({ sentence, start: offset }: { sentence: string; start: number }, add: AddName): void {
  let isPossibly: boolean | undefined;
  for (const { 0: name, index } of findMatches(remoteAccess, sentence))
    if (isInstalled.test(sentence.slice(Math.max(0, index - reach), index)) && !isElse.test(sentence))
      add('tool', name, offset + index);
  for (const match of isElse.test(sentence) ? [] : findMatches(apposedTool, sentence))
    addTool(match[1]!, match.index + match[0].indexOf(match[1]!));
  for (const { 0: word, index } of findMatches(noun, sentence)) {
    isPossibly ??= !isElse.test(sentence);
    if (!isPossibly) return;
    const end = index + word.length;
    const before = sentence.slice(Math.max(0, index - reach), index);
    const after = sentence.slice(end, end + reach);
    const qualified = isQualified.test(before);
    const named = qualified ? nameBefore.exec(before) : null;
    if (named) addTool(named[1]!, offset + index - before.length + named.index);
    const apposed = qualified ? nameAfter.exec(after) : null;
    if (apposed) addTool(apposed[1]!, offset + end + apposed[0].indexOf(apposed[1]!));
    const list =
      qualified || isUsed.test(before)
        ? (examples.exec(after) ?? (qualified && word === 'tools' ? joined.exec(after) : null))
        : isHead.test(before)
          ? isList.exec(after)
          : null;
    if (list) addItems(readItems(sentence, end + list[0].length).items, offset, add);
  }

  function addTool(full: string, start: number): void {
    const printed = trimName(full);
    if (isTool(printed)) add('tool', printed, start);
  }
}

/** Adds the items of a list. A common word counts only beside a distinctive name. */
function addItems(items: NameList['items'], offset: number, add: AddName): void {
  const tools = items.map(({ printed, start: at }) => ({ printed: trimName(printed), at }));
  if (!tools.some(({ printed }) => isTool(printed))) return;
  for (const { printed, at } of tools) if (isPossible(printed)) add('tool', printed, offset + at);
}

export const isTool = (printed: string): boolean => isDistinctive(printed) && isPossible(printed);
const isPossible = (printed: string): boolean =>
  nameKey(printed).length >= 3 && !isGenericName(printed) && !isOtherName(printed, false) && !isOrganization(printed);
