import { addressesModel, unspacedAddresses } from './address-cues.ts';
import type { FieldRole } from './field-roles.ts';
import { languages, otherScripts, unspacedOrders, unspacedRequests } from './languages.ts';
import type { PlantedCue } from './cue.ts';

/** Finds orders and requests in languages other than English in a folded text. */
export function findForeignCue(text: string, role: FieldRole): PlantedCue | undefined {
  return findUnspacedCue(text, role) ?? findSpacedCue(text, role);
}

function findUnspacedCue(text: string, role: FieldRole): PlantedCue | undefined {
  if (!/[\u0590-\uffff]/.test(text)) return undefined;
  const letters = text.match(otherScripts)?.length ?? 0;
  if (letters < 5) return undefined;
  if (unspacedOrders.test(text)) return 'override';
  if (unspacedAddresses.test(text)) return 'role';
  if (role !== 'script' && unspacedRequests.test(text)) return 'request';
  return role === 'label' && letters >= 12 ? 'sentence' : undefined;
}

function findSpacedCue(text: string, role: FieldRole): PlantedCue | undefined {
  if (!/\p{L}[\s,]+\p{L}/u.test(text)) return undefined;
  const tokens = text.match(/[\p{L}\p{M}'-]+|[.?!:;¿\n]/gu) ?? [];
  const words = tokens.map((token) => token.toLowerCase());
  const joined = words.map(toMark).join(' ');
  if (addressesModel(joined)) return 'role';
  for (const { functionWords, orders, requests } of languages) {
    if (!words.some((word) => functionWords.has(word))) continue;
    if (orders.test(joined)) return 'override';
    if (role !== 'script' && (requests.test(joined) || requests.test(markStarts(tokens)))) return 'request';
  }
  return undefined;
}

const toMark = (token: string): string => (/^[.!:;¿\n]$/.test(token) ? '.' : token);

/** Joins tokens with a stop before each capital letter, where a sentence may begin. */
const markStarts = (tokens: readonly string[]): string =>
  tokens
    .map((token) => (/^\p{Lu}\p{Ll}/u.test(token) ? `. ${token.toLowerCase()}` : toMark(token.toLowerCase())))
    .join(' ');

/** Returns whether words contain at least two function words of one language. */
export const isForeignSentence = (words: readonly string[]): boolean =>
  languages.some(({ functionWords }) => new Set(words.filter((word) => functionWords.has(word))).size >= 2);
