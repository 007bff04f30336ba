import { isIPv4 } from 'node:net';
import { extractUrlHost } from '../../../../platform/lib/outbound-http/addresses.ts';
import { nameKey } from '../../../reference-data/name-forms.ts';
import { findOwnDomain } from '../../../reference-data/shared-suffixes.ts';
import type { Span } from '../../text/stored-text.ts';
import { isBystander } from './bystanders.ts';
import { findHarmlessHostMention } from './host-mentions.ts';
import { findHarmlessFileMention } from './file-mentions.ts';
import { isFurtherReading } from './further-reading.ts';
import type { ValueContext } from './value-context.ts';
import { isVictimOrOriginal } from './victim-cue.ts';
import { createWordsBefore } from './words-before.ts';

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
