import { isIPv4 } from 'node:net';
import { isBystander, findHarmlessHostMention } from './host-mentions.ts';
import type { ValueContext } from './value-context.ts';
import { isVictimOrOriginal } from './victim-cue.ts';
import { createWordsBefore } from '../../text/find-matches.ts';
import type { Span } from '../../text/stored-text.ts';
import { nameKey } from '../../../reference-data/name-forms.ts';
import { findOwnDomain } from '../../../reference-data/shared-suffixes.ts';
import { extractUrlHost } from '../../../../platform/lib/outbound-http/addresses.ts';

/** A value in prose. `address` is the URL that it is or that contains it. */
export type Mention = Span & {
  type: string;
  value: string;
  address: string | undefined;
  context: ValueContext;
  /** The keys of the names that attackers imitate according to the text. */
  imitated: ReadonlySet<string>;
};

/** Returns the reason why the words around a live value say that it is harmless, or undefined. */
export function findHarmlessMention(text: string, mention: Mention): string | undefined {
  const { type, context, address, start } = mention;
  const isListed = context.section === 'indicators';
  if (context.isBystander && isHost(type)) return 'victim or imitated original';
  if (isListed && context.isolated) return undefined;
  // Most values start their line, list item or cell.
  if (context.isolated && !hasWordBefore(text, start)) return undefined;
  if (type === 'file_name') return findHarmlessFileMention(text, mention);
  if (isDisplayName(text, mention)) return 'display name of a mail address';
  if (!isListed && isVictimOrOriginal(text, mention)) return 'victim or imitated original';
  const isLink = address !== undefined && /^https?:/.test(address);
  if (isLink && isFurtherReading(text, start, isListed)) return 'further reading';
  if (context.isolated) return undefined;
  if (isProvider(text, mention)) return 'hosting provider';
  if (context.isDescription) return 'mentioned in a description';
  if (isListed || type.startsWith('ip')) return undefined;
  return isImitated(mention) ? 'victim or imitated original' : findHarmlessHostMention(text, mention);
}

/** Returns the reason why the words or the column around a defanged host say that it is harmless, or undefined. */
export const findDefangedMention = (
  text: string,
  { type, context, ...span }: Span & { type: string; context: ValueContext },
): string | undefined =>
  isHost(type) && (context.isBystander || isBystander(text, span)) ? 'victim or imitated original' : undefined;

const isHost = (type: string): boolean => type === 'domain' || type === 'url';

/** Returns whether a word is before a value on its line, behind list marks and quotation marks. */
function hasWordBefore(text: string, start: number): boolean {
  let at = start - 1;
  while (start - at < 12 && marks.has(text[at] ?? '')) at -= 1;
  return at >= 0 && text[at] !== '\n';
}
const marks = new Set(' \t"\'`“„«‘*•>|-');

/** Returns whether the registered domain of a host is a name that attackers imitate. */
function isImitated({ type, value, imitated }: Mention): boolean {
  if (imitated.size === 0) return false;
  const [label = ''] = findOwnDomain(type === 'url' ? extractUrlHost(value) : value)?.split('.') ?? [];
  return label.length >= imitatedMinChars && imitated.has(nameKey(label));
}
const imitatedMinChars = 3;

const parenthesisMaxChars = 120;
/** A country or place at the end of a remark: `, Netherlands)`. */
const countryBehind = /^[^,()\n]{0,40}, \p{Lu}[\p{L} .]{1,30}\)/u;

/** Returns whether a host belongs to the remark on a provider behind an address: `203.0.113.7 (Hosted by example.net, Netherlands)`. */
function isProvider(text: string, { start, end }: Span): boolean {
  const near = text.slice(Math.max(0, start - parenthesisMaxChars), start);
  const open = near.lastIndexOf('(');
  // The host of an address comes first: `203.0.113.7 (c2.example.net, …)`.
  if (open < 0 || open >= near.length - 1 || /[)\n]/.test(near.slice(open))) return false;
  const subject =
    near
      .slice(0, open)
      .trimEnd()
      .split(/[\s"'`<]/)
      .at(-1) ?? '';
  const host = /^(?:\w+:\/\/)?([\d.]+)(?=$|[:/])/.exec(subject)?.[1] ?? '';
  return isIPv4(host) && countryBehind.test(text.slice(end, end + 80));
}

/** Returns whether a host is in the display name of a mail address: `"Example.com Support" <a@b.com>`. */
function isDisplayName(text: string, { end }: Span): boolean {
  return /["”’ <]/.test(text[end] ?? '') && /^[\w .]{0,30}["”’]? ?<[^\s<>@]{1,64}@/.test(text.slice(end, end + 110));
}

const hasDomainCue = createWordsBefore([
  String.raw`(?<!\p{L})(?:sub-?domains?|domains?|hostnames?|web ?sites?|domänen?|webseiten?|dominios?|domínios?|domini|domaines?|domen[aęy]|stron[aęy]|stronie|witryn[aęy]|домен\p{L}{0,3}|сайт\p{L}{0,2}|域名|网站|網站|ドメイン|サイト|도메인|사이트)[:：]? ?["“„«'\x60]?`,
]);
const hasServerCue = createWordsBefore([String.raw`\b(?:hosts?|c2|c&c|servers?|sites?):? ?["“„«'\x60]?`]);

/** Returns how much the word directly before a value says that it is a host: 2 for `the domain example.help`, 1 for `the server example.help`. */
export function getHostCue(text: string, { start }: Span): 0 | 1 | 2 {
  if (hasDomainCue(text, start)) return 2;
  return hasServerCue(text, start) ? 1 : 0;
}

const place = String.raw`(?: (?:at|in|on|here))?[:,]? ?[<(]?`;
const hasReadingCue = createWordsBefore([
  String.raw`\b(?:see(?: also)?|read(?: more)?|more (?:technical )?(?:information|details)|(?:technical|malware|full|our) analysis)(?: (?:is|are))?(?: (?:available|published|found))?${place}`,
  String.raw`\b(?:found|seen|viewed|read|available) here[:,]? ?[<(]?`,
]);
const hasSourceCue = createWordsBefore([
  String.raw`\b(?:analysis|details|blog(?: ?post)?(?: about (?:this|it))?|reports?|article|write-?up|reference|source)(?: (?:is|are))?(?: (?:available|published|found))?${place}`,
  String.raw`\b(?:author|(?:written|analysis|research|found|discovered|reported|posted) by|credits? to|thanks to):? ?[<(]?`,
]);

/** Up to six words between a request and the address: `report the message to your bank at `. */
const words = String.raw`(?: [\p{L}’'-]{1,20}){0,6}`;
const requests = [
  String.raw`(?:report|forward|submit)${words} (?:at|to|via|on|through)`,
  String.raw`(?:contact|reach|follow|visit|join)(?: us| me| our${words}| the${words})?(?: (?:at|via|on))?`,
  String.raw`(?:subscribe|sign up|register)${words} (?:at|to|on|via)`,
  String.raw`(?:melden?|anzeigen?|wenden)${words} (?:unter|über|auf|an|bei)`,
  String.raw`(?:denunci\p{L}{1,4}|reporta\p{L}{0,3}|informa\p{L}{0,3}|avis[ae]\p{L}{0,2})${words} (?:en|a través de|em|através de|no|na)`,
  String.raw`(?:signal(?:er|ez)|déclare[rz])${words} (?:sur|à|via|auprès de)`,
  String.raw`segnala\p{L}{0,3}${words} (?:su|a|al|tramite|sul sito)`,
  String.raw`(?:zgło\p{L}{1,4}|zgłasza\p{L}{0,4})${words} (?:pod|na|przez|do|pod adresem)`,
  String.raw`(?:meld|rapporteer)${words} (?:op|via|bij)`,
  String.raw`(?:сообщ\p{L}{1,5}|повідом\p{L}{1,5}|зверта\p{L}{1,5})${words} (?:на|по|до|через|за адресою)`,
];
const hasRequest = createWordsBefore([String.raw`(?<!\p{L})(?:${requests.join('|')}):? ?[<(„“"]?`]);

/**
 * Returns whether the words directly before a live address say that the reader should go there: `more details at`, `See`, `Blog:`, `report
 * phishing at`. In a list of indicators, `report: http://…` can be what a program requests.
 */
const isFurtherReading = (text: string, start: number, isListed: boolean): boolean =>
  hasReadingCue(text, start) || (!isListed && (hasSourceCue(text, start) || hasRequest(text, start)));

/** Names of files in a list before the value: `a.exe, b.exe and `. */
const listed = String.raw`(?:["'“‘\x60]?[\w.~-]{1,40}["'”’\x60]?(?:, (?:and |or )?| and | or )){0,12}`;
const opened = String.raw`[(（:："“„«'‘\x60]?`;

/** Words that say that a file is harmless. */
const hasLegitimateCue = createWordsBefore(
  [
    String.raw`(?<!\b(?:seemingly|apparently|as|like|from) (?:the |a |an )?)\b(?:legitimate|legit|legitimately signed|genuine|benign|non-malicious|harmless)(?: (?!(?:to|that|which|then|loads?|loading|runs?|executes?|drops?|downloads?)\b)[\p{L}\d’'-]{1,20},?){0,4} ?`,
    String.raw`\b(?:copy|version) of(?: the| a)?(?: original)? `,
    String.raw`\blegitime[ns]? (?:datei|programm|anwendung) `,
    String.raw`\b(?:archivo|ejecutable|binario|fichero) legítimo `,
    String.raw`\b(?:fichier|exécutable|binaire) légitime `,
    String.raw`\b(?:file|eseguibile) legittimo `,
    String.raw`\b(?:arquivo|executável) legítimo `,
    String.raw`(?:легітимн|легитимн)\p{L}{2,4} файл\p{L}{0,2} `,
    String.raw`(?:(?:合法|正常|白)(?:的)?(?:文件|程序|进程)|(?:正規の?|正常な)(?:ファイル|プログラム|プロセス)(?:である|の)?|정상 (?:파일|프로그램|프로세스)(?:인)?) ?`,
  ].map((cue) => `${cue}${opened}`),
);
const changed = /\b(?:trojani[sz]ed|backdoored|modified|tampered|patched|fake|malicious|infected|weaponi[sz]ed)\b/i;
const legitimateBehind =
  /^["'”’)]{0,2}(?:,| -| –| —| \()? ?(?:which )?(?:is |was |itself is )?(?:an? |the |inherently )?(?:[\w’'-]{1,20} )?(?:legitimate|benign|harmless|non-malicious|not (?:inherently |itself )?malicious)\b/i;

/** Words before software that malware looks for, stops or runs in, or that an analyst used. */
const hasTargetCue = createWordsBefore(
  [
    String.raw`\b(?:(?:terminat|kill|stopp?|disabl|hollow)(?:s|es|ed|ing)?(?: the)?(?: process(?:es)?)?|(?:check|look|search|scan)(?:s|es|ed|ing)? for(?: the)?(?: process(?:es)?)?|inject(?:s|ed|ing)?(?: [\w’'-]{1,20}){0,4} into(?: the)?(?: process(?:es)?)?|(?:opened|loaded|viewed|inspected|debugged|decompiled|analy[sz]ed)(?: it| the [a-z]{1,12})? (?:in|with|using)|[Ww]e (?:then )?(?:used|opened|ran)) ${listed}${opened}`,
  ],
  'u',
);

/** Words before a program that the report tells its readers to run. */
const hasAdviceCue = createWordsBefore([
  String.raw`\b(?:administrators|admins|users|customers|defenders|organi[sz]ations|you) (?:should|can|must|may) (?:also )?(?:run|execute|use|download|install|apply)(?: the)?(?: (?:script|tool|patch|hotfix|update))? ${opened}`,
]);

/** Words before a component with a vulnerability. */
const hasVulnerableCue = createWordsBefore([
  String.raw`\b(?:flaw|bug|vulnerabilit(?:y|ies)|weakness|overflow|injection|traversal|bypass)(?: exists)? (?:in|of|affecting)(?: the)?(?: [\w-]{1,20}){0,2} ${opened}`,
  String.raw`\b(?:CVE-\d{4}-\d{4,7}|flaw|bug|vulnerability) (?:affects|resides in|is in|lies in)(?: the)? ${opened}`,
  String.raw`\b(?:patch|hotfix|security update) (?:replaces|updates|changes)(?: the)? ${listed}${opened}`,
  String.raw`\bexploit(?:s|ed|ing)(?: a [\w ]{1,30} in)?(?: the)? ${opened}`,
]);

/** Words before a document or picture of the report itself. */
const hasOwnDocumentCue = createWordsBefore([
  String.raw`\b(?:screenshots?|figures?|fig\.?|images?|abbildung|captura|imagen)(?: \d{1,2})?[:.] ${opened}`,
  String.raw`\b(?:white ?paper|our report|full report|pdf report|slides|advisory|appendix) (?:as |in |at |is )?${opened}`,
]);
const documentName = /\.(?:pdf|png|jpe?g|gif|webp|svg|pptx?)$/i;

/** Libraries that compilers and interpreters bring along. Attackers also name libraries like them for side-loading. */
const runtimeLibrary =
  /^(?:python\d{2,3}|vcruntime\d{2,3}(?:_\d)?|msvc[pr]\d{2,3}(?:_\d)?|ucrtbase|mfc\d{2,3}u?|libgcc_s_\w{1,8}-1)\.dll$/i;

const renamedTo = /^["'\x60”]? (?:to|into|becomes?|→|->|(?:is|are) renamed(?: to)?|turns into) ["'\x60“]?/;

/** Returns whether a file gets another extension behind its own: `report.docx becomes report.docx.locked`. */
function isRenamed(text: string, { start, end }: Span): boolean {
  const verb = renamedTo.exec(text.slice(end, end + 24))?.[0];
  return verb !== undefined && text.startsWith(`${text.slice(start, end)}.`, end + verb.length);
}

const changeReach = 60;

/** Returns the reason why the words around a file name in prose say that the file is harmless, or undefined. */
function findHarmlessFileMention(text: string, { start, end }: Span): string | undefined {
  const name = text.slice(start, end);
  const isLibrary = runtimeLibrary.test(name);
  if (isLibrary || hasLegitimateCue(text, start)) {
    if (!changed.test(/[^.;\n]*$/.exec(text.slice(Math.max(0, start - changeReach), start))![0]))
      return isLibrary ? 'system file' : 'legitimate file';
  }
  if (legitimateBehind.test(text.slice(end, end + 80))) return 'legitimate file';
  if (hasTargetCue(text, start)) return 'software that is attacked or used for analysis';
  if (hasVulnerableCue(text, start) || /^[`"'”’]? (?:is|are|was|were) vulnerable\b/.test(text.slice(end, end + 20)))
    return 'vulnerable component';
  if (hasAdviceCue(text, start)) return 'recommended tool';
  if (isRenamed(text, { start, end })) return 'example of an encrypted file';
  return documentName.test(name) && hasOwnDocumentCue(text, start) ? 'document of the report' : undefined;
}
