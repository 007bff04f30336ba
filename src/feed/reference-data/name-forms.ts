import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** Returns the comparison key of a name: lower-case letters and digits only. */
export const nameKey = (name: string): string =>
  /^[A-Za-z0-9]+$/.test(name) ? name.toLowerCase() : name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

// Generic terms, and proper nouns that usually mean something else.
const excludedKeys = new Set(
  `one trojan rat malware ransomware loader dropper stealer backdoor bot botnet keylogger agent unknown other generic attack virus worm miner rootkit
  phishing exploit crypter packer wiper injector downloader infostealer spyware adware banker unnamed none na test demo windows linux android
  macos microsoft google chrome firefox apple java python powershell office outlook excel word teamviewer anydesk kaseya kaseyavsa solarwinds
  russian chinese iranian turkish korean indian pakistani ukrainian israeli vietnamese american german french dutch arab english spanish
  eldorado ratattack undead group team hacker hackers anonymous security payload sample first final php django rijndael httpclient desktop
  windows7 windows8 windows10 windows11 defender wildfire mcafee cylance quickheal rapid7 norton autoit autorun grep foxmail livesafe
  0day zeroday`.split(/\s+/),
);
const regions = new Intl.DisplayNames(['en'], { type: 'region' });
const regionKeys = new Set<string>();
for (let a = 65; a <= 90; a += 1)
  for (let b = 65; b <= 90; b += 1) regionKeys.add(nameKey(regions.of(String.fromCodePoint(a, b)) ?? ''));
for (const key of regionKeys) excludedKeys.add(key);

/** Returns whether a name is the English one of a country or region. */
export const isRegion = (name: string): boolean => regionKeys.has(nameKey(name));

/** Removes the suffixes that lists add to distinguish entries, such as `(ransomware)`. */
export const cleanName = (name: string): string =>
  name
    .replaceAll(
      /\s*\((?:malware family|windows|android|linux|elf|macos|os x|osx|apk|ransomware|rat|trojan|botnet|tool|stealer|backdoor|fake)\)\s*$/gi,
      '',
    )
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Returns a name and, if a list joins the name and the number of one publisher, both: `海莲花 - APT-C-00`. */
export const listNameParts = (name: string): string[] => [name, ...(/^(.+) - (APT-C-\d+)$/.exec(name)?.slice(1) ?? [])];

/** Returns whether a name is usable in prose. Ids, detection names and single letters are not. */
export const isName = (name: string): boolean =>
  nameKey(name).length >= 2 &&
  !excludedKeys.has(nameKey(name)) &&
  name.length <= 60 &&
  !/^[GSC]\d{4}$/.test(name) &&
  !/^(?:win|elf|apk|osx|js|ps1|jar|py|php|vbs|symbian|asp)\./.test(name) &&
  !/[\t|;]/.test(name);

// Names of people, stars, towns, gods, days and things, which the word list does not contain.
const proper = new Set(
  `orion mercury apollo diana alice charlie oscar victor jupiter saturn neptune venus athena hermes atlas luna nova max leo sam mary john david adam
  eve bob tom jack henry james kevin jason judy lucy reynolds alpha beta gamma delta omega sigma lambda zeta kali paris london berlin boston dallas
  austin phoenix lincoln monroe stanley angel gabriel samuel king prince lotus philadelphia milan saigon nevada mozart beethoven hitler mafia yakuza
  oled roboto everest prometheus kraken nokia samsung vivo oracle adobe intel electrum synack christmas mega`.split(
    /\s+/,
  ),
);

/** Returns whether a name is that of people, places or things of which ordinary prose speaks. */
export const isProperNoun = (name: string): boolean => proper.has(name.toLowerCase());

/** Returns the 4,000 most frequent English words. */
export const readFrequentWords = (): string[] => readWords('frequent-words');

const readWords = (name: string): string[] =>
  brotliDecompressSync(readFileSync(resolve(import.meta.dirname, `shipped/${name}.txt.br`)))
    .toString('utf8')
    .split('\n');

let everyday: ReadonlySet<string> | undefined;

/**
 * Returns whether a name also occurs in ordinary prose: all of its words are common, or it has at most three letters and digits. The
 * word list is read once per process.
 */
export function needsCue(name: string): boolean {
  everyday ??= new Set(readWords('words'));
  const isCommon = (word: string): boolean => word.length === 1 || /^\d+$/.test(word) || everyday!.has(word);
  return (
    nameKey(name).length <= 3 ||
    isProperNoun(name) ||
    name
      .toLowerCase()
      .split(/[\s-]+/)
      .every(isCommon)
  );
}
