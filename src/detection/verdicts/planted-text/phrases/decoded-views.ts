import { functionWords } from './english.ts';

const viewsMax = 12;
const decodedMax = 2_000;

/** Returns the texts that are encoded in a text: Base64, Base32, hex, percent, escape and HTML encodings, ROT13 and reversed text. */
export function decodeViews(text: string): string[] {
  const views: string[] = [];
  for (const decode of decoders) {
    for (const view of decode(text)) {
      if (views.length === viewsMax) return views;
      if (view !== text && readsAsText(view)) views.push(view.slice(0, decodedMax));
    }
  }
  return views;
}

const decoders: ((text: string) => string[])[] = [
  (text) => matches(text, /[A-Za-z0-9+/_-]{20,}={0,2}/g).flatMap(decodeBase64),
  (text) => matches(text, /(?<![A-Z2-7])[A-Z2-7]{16,}(?![A-Z2-7])/g).map(decodeBase32),
  (text) => matches(text, /(?:[0-9a-f]{2}[ :]?){10,}/gi).map((hex) => fromHex(hex.replaceAll(/[ :]/g, ''))),
  (text) => matches(text, /(?:\\x[0-9a-f]{2}){6,}/gi).map((hex) => fromHex(hex.replaceAll(/\\x/gi, ''))),
  (text) =>
    /(?:\\u00[0-9a-f]{2}){6}/i.test(text)
      ? [text.replaceAll(/\\u00([0-9a-f]{2})/gi, (_, hex: string) => fromHex(hex))]
      : [],
  (text) =>
    /%[0-9a-f]{2}/i.test(text) ? [text.replaceAll(/(?:%[0-9a-f]{2})+/gi, decodePercent).replaceAll('+', ' ')] : [],
  (text) => (/&#x?[0-9a-f]{2,4};/i.test(text) ? [text.replaceAll(/&#(x?)([0-9a-f]{2,5});/gi, decodeEntity)] : []),
  (text) => (/(?:\b\d{2,3}[ ,]+){8}/.test(text) ? [decodeCharCodes(text)] : []),
  (text) =>
    /(?:\b[01]{8}[ ,]?){5}/.test(text)
      ? [
          matches(text, /\b[01]{8}\b/g)
            .map((bits) => String.fromCharCode(Number.parseInt(bits, 2)))
            .join(''),
        ]
      : [],
  readShifted,
];

const matches = (text: string, pattern: RegExp): string[] => (text.match(pattern) ?? []).slice(0, 4);

function decodeBase64(text: string): string[] {
  // Names and hex digits are Base64 letters too, but a Base64 text of this length mixes all kinds.
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text)) return [];
  const bytes = Buffer.from(text, 'base64');
  return [bytes.toString('utf8'), bytes.toString('utf16le')];
}

const base32Letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Decodes Base32 as in RFC 4648, without its padding. */
function decodeBase32(text: string): string {
  const bits = [...text].map((letter) => base32Letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = bits.match(/[01]{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))).toString('utf8');
}

const fromHex = (hex: string): string => Buffer.from(hex, 'hex').toString('utf8');

function decodePercent(text: string): string {
  return Buffer.from(text.replaceAll('%', ''), 'hex').toString('utf8');
}

function decodeEntity(_match: string, x: string, digits: string): string {
  const code = Number.parseInt(digits, x === '' ? 10 : 16);
  return Number.isNaN(code) || code > 0x10_ffff ? ' ' : String.fromCodePoint(code);
}

function decodeCharCodes(text: string): string {
  const codes = matches(text, /\d{1,3}(?:[ ,]+\d{1,3}){7,}/g)[0]?.match(/\d+/g) ?? [];
  return codes.map((code) => String.fromCharCode(Number(code))).join('');
}

const rotate13 = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (char) => {
    const base = char <= 'Z' ? 65 : 97;
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base);
  });

/** Returns a text in ROT13 or in reverse if it reads as English and the original does not. */
function readShifted(text: string): string[] {
  if ((text.match(/\s/g)?.length ?? 0) < 4) return [];
  const original = countFunctionWords(text);
  if (original > 2) return [];
  return [rotate13(text), [...text].toReversed().join('')].filter((changed) => {
    const changedCount = countFunctionWords(changed);
    return changedCount >= 3 && original <= changedCount / 3;
  });
}

const countFunctionWords = (text: string): number =>
  (text.toLowerCase().match(/[a-z']{2,}/g) ?? []).filter((word) => functionWords.has(word)).length;

/** Returns whether decoded bytes are text: at least ten characters, nearly all of them printable. */
function readsAsText(text: string): boolean {
  if (text.length < 10) return false;
  const printable = text.match(/[\p{L}\p{N}\p{P}\p{S}\p{Zs}\n\r\t]/gu)?.length ?? 0;
  return printable >= 0.95 * [...text].length && !text.includes('\ufffd');
}

/** Returns the text with names split into words: `ignore_all_rules`, `ignoreAllRules`, `i.g.n.o.r.e` and `1gn0r3` become words. */
export function splitNames(text: string): string {
  return text
    .replaceAll(/(?<![\p{L}\p{N}])\p{L}(?:[.\-_*]\p{L}(?!\p{L})){2,}/gu, (word) => word.replaceAll(/[.\-_*]/g, ''))
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .replaceAll(/[_\-.+*/~]+/g, ' ')
    .replaceAll(/[\p{L}@$!|]*\p{N}[\p{L}\p{N}@$!|]*/gu, (word) => (/\p{L}/u.test(word) ? readLeet(word) : word));
}

const leet: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};
const readLeet = (word: string): string => word.replaceAll(/[013457@$!]/g, (char) => leet[char]!);
