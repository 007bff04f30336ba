import { normalizeText, containsWhole, containsNumber, type KnownText } from './known-text.ts';

// General technical terms that look like a specific name.
const generalTerms =
  /^(?:s3|ec2|k8s|x(?:64|86)|ipv[46]|oauth2?(?:\.0)?|sha-?(?:1|224|256|384|512)|md5|base-?64|utf-?8|http\/?[123]?|http2|tls ?1\.[0-3]|[23]fa|mfa2?|rc4|ntlmv[12]|smbv?[123]|office-?365|microsoft-?365|m365|o365|log4j|win32|t\d{4}(?:\.\d{3})?|ta\d{4}|(?:[a-z]\.){1,3}[a-z]?|and\/or|n\/a|24\/7|24x7|tcp\/ip|ci\/cd|c2|a\/b|cloudtrail|powershell|cloudwatch|github|gitlab|javascript|macos|ios|openid|sharepoint|onedrive|dynamodb|mysql|postgresql|esxi|psexec|vmware)$/;
const numberWords =
  'zero . two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const largeNumberWords: Record<string, number> = {
  dozen: 12,
  dozens: 12,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  hundred: 100,
  hundreds: 100,
  thousand: 1000,
  thousands: 1000,
  million: 1e6,
  millions: 1e6,
};

/** Returns the claims of a sentence that the known text does not contain: addresses, hashes, hosts, accounts, times and numbers. */
export function findUnverifiedClaims(sentence: string, known: KnownText): string[] {
  const words = sentence
    .split(/[\s"“”«»`<>|]+/)
    .flatMap(splitWord)
    .filter((word) => word !== '');
  const unverified = words.filter((word) => !isVerified(word, known));
  return [...unverified, ...listNamedThings(sentence).filter((name) => !containsWhole(known, normalizeText(name)))];
}

/** Strips punctuation around a word, and splits `either/or` and comma-separated lists. */
function splitWord(word: string): string[] {
  const bare = word.replace(/^[([{'‘’*_~≈]+|[)\]}'‘’*_,;:!?.…]+$/gu, '').replace(/['’]s$/u, '');
  if (/^\p{L}+(?:\/\p{L}+)+$/u.test(bare)) return bare.split('/');
  if (/^[^,;()=]+(?:[,;()=]+[^,;()=]+)+$/.test(bare) && !/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(bare))
    return bare.split(/[,;()=]+/).flatMap(splitWord);
  return [bare];
}

function isVerified(word: string, known: KnownText): boolean {
  const claim = normalizeText(word);
  if (generalTerms.test(claim)) return true;
  const number = claim.match(/^[#$€<>≤≥~±+]*(-?\d[\d,]*(?:\.\d+)?)(?:%|x|×|k|ms|s|sec|m|min|h|d|st|nd|rd|th)?$/)?.[1];
  if (number !== undefined) return containsNumber(known, number.replaceAll(',', '')) || containsWhole(known, claim);
  const wordIndex = numberWords.indexOf(claim);
  if (wordIndex !== -1 || Object.hasOwn(largeNumberWords, claim)) {
    return (
      containsNumber(known, String(wordIndex === -1 ? largeNumberWords[claim] : wordIndex)) ||
      containsWhole(known, claim)
    );
  }
  return !isTechnical(word) || containsWhole(known, claim) || isCompoundNumber(claim, known);
}

/** Returns whether a word looks technical: it contains a digit, or punctuation or capitals inside. */
function isTechnical(word: string): boolean {
  return /\d|[.@\\/:_$#][\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(word);
}

/** Returns whether a claim is a known number joined to plain words, such as `24-hour` or `3-step`. */
function isCompoundNumber(claim: string, known: KnownText): boolean {
  const number = claim.match(/^(\d+(?:\.\d+)?)-[a-z]{3,}(?:-[a-z]+)*$/)?.[1];
  return number !== undefined && containsNumber(known, number);
}

const plainWordsText =
  'account accounts activity action actions access agent and as at by can could data did does entity event events file files for from group groups had has have he id in into is it its key keys ' +
  'log logs login logon may might must name named names not of off on or out owner policy role roles row rows same service session should sign since so some that the their then they this to type until user users was we were what when where ' +
  'whether which while who whose will with within without would you your before after against also another any are be been being but if itself logged made more now over own under used via';
const plainWords = new Set(plainWordsText.split(' '));

/** Returns the names of users, accounts and hosts in a sentence, as in `user bob` or `host named web`. */
function listNamedThings(sentence: string): string[] {
  const mentions = sentence.matchAll(
    /\b(?:user|username|account|host|hostname|machine|server|workstation|principal|computer|domain|bucket)\s+(named\s+|called\s+)?["'`“]?([\p{L}\p{N}][\p{L}\p{N}._@\\$-]*)/giu,
  );
  return [...mentions].flatMap(([, namedOrCalled, name]) => {
    const bare = name!.replace(/[._-]+$/, '');
    return namedOrCalled === undefined && isPlain(bare) ? [] : [bare];
  });
}

function isPlain(word: string): boolean {
  return (
    plainWords.has(word.toLowerCase()) ||
    (/^\p{Ll}+$/u.test(word) && /(?:ed|ing|ion|ions|ity|ment|ments|ance|ly|als?|ness|ware|ers?)$/.test(word))
  );
}
