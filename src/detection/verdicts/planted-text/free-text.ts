import { decodeViews, splitNames } from './phrases/decoded-views.ts';
import { functionWords } from './phrases/english.ts';
import { foldText } from './phrases/fold-text.ts';

const textMax = 8_000;
/** Three words in a row. A user agent has at most two between its versions, and so has the name of a person or a product. */
const spacedWords = /[\p{L}\p{M}][\p{L}\p{M}'’]+(?:[,;:.!?"]*[\s|,·+]+"?[\p{L}\p{M}][\p{L}\p{M}'’]*){2,}/u;
/** The platforms and the engine in the user agents of browsers. */
const platforms =
  /\((?:KHTML, like Gecko|Macintosh; Intel Mac OS X|iPhone; CPU iPhone OS|iPad; CPU OS)[\d_. ]*(?:like Mac OS X)?\)/g;
/** Two words that are not a name: the first one is in lower case. */
const phrase = /(?<![\p{L}\p{N}\\/_.-])\p{Ll}{4,}[ ,]+\p{L}{4,}(?![\p{L}\p{N}\\/_.=(-])/u;
const spacedLetters = /(?:(?<![\p{L}\p{N}])\p{L}\s+){5}\p{L}(?![\p{L}\p{N}])/u;
/** Scripts that do not separate words. */
const unspacedWords =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]{4,}/u;
/** Words about a verdict, which persuade a judge even alone. */
const verdictWords =
  /(?<!\p{L})(?:benign|harmless|innocuous|innocent|legit(?:imate)?|verdict|severity|triaged?|analysts?|review(?:er|ers|ed)|approved|(?:white|allow)list(?:ed)?|false positive|decision|decided|no (?:hit|alert|issue)|judged?|dismiss(?:ed)?|escalated?|instructions|prompt|briefing|anweisung\p{L}*|consignes|instrucci\p{L}*|инструкц\p{L}*|final answer|known good|harmlos|unbedenklich|b[eé]nin|benigno|inofensiv[oa]|inoffensi[fv]e?|innocuo|legitim[oe]?|безвред\p{L}*|безопасн\p{L}*|нешкідлив\p{L}*|nieszkodliw\p{L}*|zararsız|onschadelijk|ακίνδυν\p{L}*|ضار|无害|良性|無害|무해\p{L}*|vô hại)(?!\p{L})/iu;
/** A question of at least two words. The mark of a URL stands within it. */
const question = /\p{L}[^?]*\s[^?\s]+\?(?:[\s"']|$)/u;
const letters = /\p{L}[\p{L}\p{M}'’]*/gu;

/**
 * Returns whether a value contains free text, which could persuade a model: three words in a row or two that are no name, a name that is made of words, a word
 * about a verdict, or one of them in an encoding. Stricter than what shows that a text is addressed to a model.
 */
export function holdsFreeText(value: string): boolean {
  const text = unescapeBreaks(foldText(value.slice(0, textMax)));
  return isFreeText(text) || decodeViews(text).some((view) => isFreeText(foldText(view)));
}

/** Rows show line breaks and tabs escaped, and paths contain the same characters. */
const unescapeBreaks = (text: string): string =>
  /^["']?(?:[a-z]:|\\)\\/i.test(text) ? text : text.replaceAll(/\\[nrt]/g, ' ');

function isFreeText(text: string): boolean {
  const plain = text.replaceAll(platforms, '');
  if ([spacedWords, phrase, unspacedWords, spacedLetters, question].some((pattern) => pattern.test(plain))) return true;
  const named = splitNames(text);
  return verdictWords.test(named) || isSentenceOfNames(named);
}

/** Returns whether the words of a name are a sentence: four of them, with two that hold sentences together. */
function isSentenceOfNames(named: string): boolean {
  const words = (named.match(letters) ?? []).map((word) => word.toLowerCase());
  const joining = new Set(words.filter((word) => word.length > 1 && functionWords.has(word)));
  return words.length >= 4 && joining.size >= 2;
}
