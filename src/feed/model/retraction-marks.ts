/** Words that mark a whole item as retracted when they stand alone in its title, in lower case. */
const words = [
  'retracted', 'retraction', 'withdrawn', 'withdrawal', 'revoked', 'rejected', 'zurückgezogen', 'widerrufen', 'retiré', 'rétracté', 'retractado',
  'retirado', 'ritirato', 'ritrattato', 'ingetrokken', 'återkallad', 'tilbagetrukket', 'wycofane', 'wycofano', 'отозвано', 'отозван', 'відкликано', '撤回', '撤稿', '取り下げ', '철회',
]; // prettier-ignore

/** Words that do not stand alone in a mark: `[RETRACTED: ARTICLE]`, `RETRACTION NOTICE:`. */
const companions = ['article', 'report', 'advisory', 'bulletin', 'post', 'notice', 'this', 'item', 'document'];

const word = `(?:${words.join('|')})`;
const companion = `(?:${companions.join('|')})`;
const mark = `(?:${companion}[\\s:]+)?${word}(?:[\\s:]+${companion})?`;
const open = '[\\[({*_<【［（《〈「]';
const close = '[\\])}*_>】］）》〉」]';

/** A mark in brackets or asterisks at the beginning or the end, or one that a colon or a dash separates from the title. */
const marks = [
  new RegExp(`^\\s*${open}+\\s*${mark}\\s*${close}+`, 'iu'),
  new RegExp(`${open}+\\s*${mark}\\s*${close}+\\s*$`, 'iu'),
  new RegExp(`^\\s*${mark}\\s*(?:[:：|]|\\s[-–—]\\s)`, 'iu'),
  new RegExp(`(?:[:：|]|\\s[-–—])\\s*${mark}\\s*[.!]?\\s*$`, 'iu'),
  new RegExp(`^\\s*${mark}\\s*$`, 'iu'),
];
const shouted = new RegExp(`^\\s*(?:${words.join('|').toUpperCase()})\\s`, 'u');

const endChars = 200;

/** Returns whether a title has a publisher's mark that the whole item is retracted. Such a word within a sentence is not a mark. */
export function isMarkedRetracted(title: string): boolean {
  // A mark is at an end, and a title may have megabytes.
  const ends = title.length > 2 * endChars ? `${title.slice(0, endChars)}…${title.slice(-endChars)}` : title;
  return marks.some((pattern) => pattern.test(ends)) || shouted.test(ends);
}
