import type { Span } from '../../text/stored-text.ts';
import { createWordsBefore } from './words-before.ts';

const site = String.raw`(?:web ?sites?|sites?|domains?|pages?|portals?|homepages?)`;
const harmless = String.raw`(?:legitimate|legit|official|genuine|authentic|benign)`;
/** Words between a cue and the value: `the official website of the bank (`. */
const between = String.raw`(?:[ ,:("'“„«]{1,3}(?!(?:that|which|by|to|and|from|with)\b)[\p{L}’'-]{1,20}){0,4}`;
/** Up to three marks, or a colon and the start of a code block. */
const opened = String.raw`(?:[ :,("'“„«\x60]{1,3}|:\s{0,4}(?:\x60{3}\w{0,8}\s{1,4})?)`;

/** Words before a host that attackers imitate, or that belongs to a victim. Reports print such hosts defanged, too. */
const hasOriginalCue = createWordsBefore([
  String.raw`(?:${[
    String.raw`(?<!\b(?:seemingly|apparently|appears?|looks?|as|like|a|an|be) )\b${harmless}(?: \p{L}{1,20}){0,2} ${site}${between}`,
    String.raw`\b(?:real|actual) (?:web ?site|site|homepage)${between}`,
    String.raw`\((?:the )?(?:${harmless}|real|original)(?: ${site})?(?: is|:)?`,
    String.raw`\b(?:instead of|rather than)(?: the)?(?: (?:${harmless}|real|original))?(?: ${site})?`,
    String.raw`\b(?:typosquats? (?:of|on)|typosquatting|misspellings? of|variations? of)(?: the)?(?: (?:${harmless}|real))?(?: ${site})?`,
    String.raw`\bvictim(?:(?:['’]s|s['’])(?: own)?(?: ${site})?| (?:organi[sz]ation|company|${site}))`,
  ].join('|')})${opened}`,
]);
const harmlessBehind = new RegExp(
  String.raw`^["'”’)]{0,2}(?:,| -| –| —| \()? ?(?:which )?(?:is |was )?(?:an? |the )?(?:\w+ )?${harmless}\b(?! but)(?!(?: ${site})?(?: is)?[: ]+[\w-]+\.\w)`,
  'i',
);
/** Words in the sentence that show that attackers use the host. */
const misused =
  /\b(?:compromis|hack(?:ed|s|ing)\b|hijack|infect|inject|abus|exploit|takeover|tak(?:en|ing|es|e) over|host(?:s|ed|ing)\b|deliver|download|exfiltrat|c2\b|c&c\b|command[- ]and[- ]control)/i;
const reach = 160;

/** Returns whether the words around a defanged host say that it is the original that attackers imitate, or a victim's, and not that they use it. */
export const isDefangedOriginal = (text: string, span: Span): boolean =>
  (hasOriginalCue(text, span.start) && !isMisused(text, span)) || isCalledHarmless(text, span);

/** Returns whether the words behind a host call it harmless: `example.org, which is benign`. */
export const isCalledHarmless = (text: string, span: Span): boolean =>
  harmlessBehind.test(text.slice(span.end, span.end + reach)) && !isMisused(text, span);

/** Returns whether the sentence around a host says that attackers use it. */
function isMisused(text: string, { start, end }: Span): boolean {
  const before = text.slice(Math.max(0, start - reach), start);
  const behind = text.slice(end, end + reach);
  return misused.test(`${before.split(/[.!?;]\s|\n/).at(-1)!} ${behind.split(/[.!?;](?:\s|$)|\n/, 1)[0]!}`);
}
