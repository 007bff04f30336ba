import { nameKey } from '../../../reference-data/name-forms.ts';
import type { Span } from '../../text/stored-text.ts';
import { isBystander } from './bystanders.ts';
import { createWordsBefore, type WordsBefore } from '../../text/find-matches.ts';

const opened = String.raw`(?: ?[(:"“„«'\x60]| )`;
const before = (cues: readonly string[]): WordsBefore => createWordsBefore([`(?:${cues.join('|')})${opened}`]);

/** Words before a host, with the reason why it is not the attacker's. */
const reasonsByCue: readonly [WordsBefore, string][] = [
  [
    before([
      String.raw`\b(?:registered|bought|purchased) (?:through|via|with|at)(?: the)?(?: registrar)?`,
      String.raw`\bhosted by`,
      String.raw`\b(?:registrar|hosting provider|hoster|internet provider|isp)`,
    ]),
    'hosting provider',
  ],
  [
    before([
      String.raw`\b(?:according to|courtesy of|reported by|(?:researchers?|analysts?|journalists?|experts?) (?:at|from|of|with))`,
      String.raw`\b(?:first )?(?:appeared|published) (?:by|on|at|in)`,
      String.raw`\b(?:posted|written) by [\p{L} .]{2,40} (?:on|at|for|\/)`,
      String.raw`\b(?:photos?|images?|pictures?|graphics?)(?: credit:?|:)? (?:by |from )?(?:[\p{L} .]{2,40} \/)?`,
      String.raw`\b(?:source|credit|via|quelle|fuente|fonte|źródło|источник|джерело)s?:`,
      String.raw`(?:©|\bcopyright)(?: \d{4}(?:-\d{4})?)?(?: by)?`,
    ]),
    'source of the report',
  ],
  [
    before([
      String.raw`\b(?:tool|patch|update|plug-?in|advisory|report|paper|documentation|source code|rule|list|project|library|software|decryptor|fix)(?:s|es)? (?:is|are|can be)(?: also| freely| publicly)? (?:available|found|downloaded|obtained) (?:at|from|on|in)`,
      String.raw`\b(?:customers|users|administrators|you) (?:can|should|must) (?:update|upgrade|download|patch)[\p{L} ]{0,30} (?:at|from|on|via)`,
      String.raw`(?:^|[.!?\n] ?)(?:please )?(?:visit|see|go to|check out|(?:read |find out |learn )?more (?:at|on))`,
      String.raw`\bcontact (?:us|the (?:vendor|manufacturer|developers?|team)) (?:at|on|via|through)(?: [a-z][\w.-]{3,60} or (?:at|on|via|through))?`,
      String.raw`\bfrom the (?:vendor|manufacturer|developers?|maker|project) (?:at|on)`,
      String.raw`\b(?:information|details|help|support),? (?:please )?(?:visit|go to|see)`,
      String.raw`\b(?:web|website|homepage|internet|www|online):`,
      String.raw`\bpowered by`,
      String.raw`\b(?:follow (?:us|me|@?\w+)|subscribe|read(?: more)?|full (?:list|story|report)|iocs|list of indicators)(?: is| are)?(?: available)? (?:on|at|from)`,
      String.raw`\b(?:users|customers|you|readers) can(?: also)? check [\p{L} ]{3,40} (?:at|on|with)`,
      String.raw`\b(?:tel|phone|fax)\b[.:]?[\d ()+/-]{6,24},`,
    ]),
    'further reading',
  ],
  [
    before([
      String.raw`\b(?:check|test|verif)(?:s|ies|ed|ing)?(?: the| its| internet| network| for)*(?: connection| connectivity| access)(?: with| to| by| via| using| through)+`,
      String.raw`\b(?:external|public|own|its|victim['’]s) (?:ip|ip address|address|location)(?: by| via| with| using| from| through)+`,
    ]),
    'service that a program uses',
  ],
  [
    before([
      String.raw`\b(?:users|clients|members|subscribers|readers|colleagues|employees|customers) (?:of|at|from)(?: the)?`,
      String.raw`\b(?:company|organi[sz]ation|vendor|bank|agency|ministry|university|hospital|manufacturer|supplier)(?:['’]s|s['’])? (?:own )?(?:web ?site|site|domain|portal),?`,
    ]),
    'victim or imitated original',
  ],
];

const victimBehind =
  /^[)"”’]{0,2}(?:, (?:has |have )?(?:warned|confirmed|announced|disclosed|apologi[sz]ed) (?:of|that|the|its|it|on|for)\b| (?:has |have )?(?:confirmed|said|announced|disclosed|told|stated|apologi[sz]ed)\b| fue (?:suplantad|atacad|vulnerad|hackead|clonad)| a été (?:imité|attaqué|piraté|usurpé|cloné)| wurde (?:angegriffen|gehackt|nachgeahmt|imitiert|gefälscht)| è stat[oa] (?:attaccat|imitat|violat|clonat)| foi (?:atacad|invadid|imitad|clonad|hackead)| (?:был|была|было) (?:атакован|взломан|подделан)| (?:був|була|було) (?:атакован|зламан|підроблен)| został[ao]? (?:zaatakowan|podrobion|sklonowan|zhakowan))/iu;

/** Returns the reason why the words around a live host in prose say that it is not the attacker's, or undefined. */
export function findHarmlessHostMention(text: string, { start, end }: Span): string | undefined {
  for (const [isBehindCue, reason] of reasonsByCue) if (isBehindCue(text, start)) return reason;
  const behind = text.slice(end, end + 80);
  if (victimBehind.test(behind) || isReceiver(text.slice(Math.max(0, start - 4), start), behind))
    return 'victim or imitated original';
  if (isBystander(text, { start, end })) return 'victim or imitated original';
  return isNamedBefore(text, { start, end }) ? 'site of a named organization' : undefined;
}

/** Returns whether a host is the mail server that added a `Received` line, which is the recipient's: `by mx.example.org (Postfix) with ESMTPS id`. */
const isReceiver = (before: string, behind: string): boolean =>
  /\bby $/.test(before) &&
  /^(?: \([^()\n]{1,40}\))? (?:with|via) (?:E?SMTPS?A?|UTF8SMTPS?A?|L?MTP|HTTPS?)\b/.test(behind);

const nameMaxChars = 96;

/** Returns whether a host stands in parentheses behind its organization: `Acme Valves (acmevalves.com)`. */
function isNamedBefore(text: string, { start, end }: Span): boolean {
  if (text[end] !== ')' || text[start - 1] !== '(') return false;
  const name = /((?:\p{Lu}[\p{L}\d&.’'-]{1,30} ){1,3})\($/u.exec(
    text.slice(Math.max(0, start - nameMaxChars), start),
  )?.[1];
  if (name === undefined) return false;
  const words = name.trim().split(' ');
  const key = nameKey(
    text
      .slice(start, end)
      .replace(/^www\./i, '')
      .split('.')[0]!,
  );
  return words.some((_, index) => nameKey(words.slice(index).join(' ')) === key);
}
