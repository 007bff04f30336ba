import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** One form of names that differ in marks, blanks and case alone. */
export const nameKey = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

// Words that say what something is, and proper nouns that name something else far more often.
const never = new Set(
  `one trojan rat malware ransomware loader dropper stealer backdoor bot botnet keylogger agent unknown other generic attack virus worm miner rootkit
  phishing exploit crypter packer wiper injector downloader infostealer spyware adware banker unnamed none na test demo windows linux android
  macos microsoft google chrome firefox apple java python powershell office outlook excel word teamviewer anydesk kaseya kaseyavsa solarwinds
  russian chinese iranian turkish korean indian pakistani ukrainian israeli vietnamese american german french dutch arab english spanish
  eldorado ratattack undead group team hacker hackers anonymous security payload sample first final php django rijndael httpclient desktop
  windows7 windows8 windows10 windows11 defender wildfire mcafee cylance quickheal rapid7 norton autoit autorun grep foxmail livesafe
  0day zeroday`.split(/\s+/),
);
const regions = new Intl.DisplayNames(['en'], { type: 'region' });
for (let a = 65; a <= 90; a += 1)
  for (let b = 65; b <= 90; b += 1) never.add(nameKey(regions.of(String.fromCodePoint(a, b)) ?? ''));

/** A name without what a list adds to tell its entries apart. */
export const cleanName = (name: string): string =>
  name
    .replaceAll(
      /\s*\((?:malware family|windows|android|linux|elf|macos|os x|osx|apk|ransomware|rat|trojan|botnet|tool|stealer|backdoor|fake)\)\s*$/gi,
      '',
    )
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Ids, detection names and single letters name nothing in prose. */
export const isName = (name: string): boolean =>
  nameKey(name).length >= 2 &&
  !never.has(nameKey(name)) &&
  name.length <= 60 &&
  !/^[GSC]\d{4}$/.test(name) &&
  !/^(?:win|elf|apk|osx|js|ps1|jar|py|php|vbs|symbian|asp)\./.test(name) &&
  !/[\t|;]/.test(name);

// Names of people, stars, towns and gods, which word lists leave out.
const proper =
  /^(?:orion|mercury|apollo|diana|alice|charlie|oscar|victor|jupiter|saturn|neptune|venus|athena|hermes|atlas|luna|nova|max|leo|sam|mary|john|david|adam|eve|bob|tom|jack|henry|alpha|beta|gamma|delta|omega|sigma|lambda|zeta|kali|amadey family|paris|london|berlin|boston|dallas|austin|phoenix|lincoln|monroe|stanley|angel|gabriel|samuel|king|prince|lotus|nokia|samsung|vivo|oracle|adobe|intel|electrum|synack)$/;

let everyday: ReadonlySet<string> | undefined;

/** Whether prose holds the name without meaning it: each of its words is a common one, or it has fewer than four letters and digits. */
export function needsCue(name: string): boolean {
  everyday ??= new Set(
    brotliDecompressSync(readFileSync(resolve(import.meta.dirname, 'shipped/words.txt.br')))
      .toString('utf8')
      .split('\n'),
  );
  const isCommon = (word: string): boolean => word.length === 1 || /^\d+$/.test(word) || everyday!.has(word);
  return (
    nameKey(name).length <= 3 ||
    proper.test(name.toLowerCase()) ||
    name
      .toLowerCase()
      .split(/[\s-]+/)
      .every(isCommon)
  );
}
