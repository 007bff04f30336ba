import { plainFieldName } from './canonical-text.ts';

export const redacted = '[redacted]';

const secretNames = new Set(
  (
    'password passwd pwd pass passphrase secret secretkey secretaccesskey clientsecret secretstring secretbinary sessiontoken securitytoken ' +
    'accesstoken refreshtoken idtoken bearertoken token authtoken apikey xapikey authorization proxyauthorization cookie setcookie privatekey ' +
    'sshprivatekey keymaterial signingkey connectionstring'
  ).split(' '),
);
const secretSuffixes =
  /(?:password|passwd|secretkey|accesstoken|refreshtoken|sessiontoken|securitytoken|authtoken|apikey|privatekey|clientsecret|secretaccesskey)$/;

/** Returns whether the whole value of a field is a secret, judging by its name. Names such as `accessKeyId` and `nextToken` are not secret. */
export function isSecretField(field: string): boolean {
  const name = plainFieldName(field);
  return secretNames.has(name) || secretSuffixes.test(name);
}

const word = String.raw`(?:[\w.-]{0,40}(?:password|passwd|passphrase|secret(?:[_-]?access)?[_-]?key|client[_-]?secret|session[_-]?token|security[_-]?token|access[_-]?token|refresh[_-]?token|auth[_-]?token|api[_-]?key|private[_-]?key|account[_-]?key|shared[_-]?access[_-]?key)|pwd|pgpassword|mysql_pwd|secret|token|x-amz-signature|x-amz-security-token|x-amz-credential-secret)`;
const value = String.raw`(?!["']?\[redacted)(?:\\?"[^"]*"?|'[^']*'?|[^\s&;,"'<>|)\]}]+)`;

// Every repetition that could begin at many positions is bounded, to keep the time linear.
type Rule = { pattern: RegExp; replacement: string };
const rules: Rule[] = [
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, replacement: redacted },
  { pattern: /\beyJ[\w-]{8,1000}\.[\w-]{4,}\.[\w-]*/g, replacement: redacted },
  { pattern: /\b(Bearer|Negotiate|NTLM|AWS4-HMAC-SHA256)\s+[\w.~+/=,-]{12,}/gi, replacement: `$1 ${redacted}` },
  {
    pattern:
      /\b(authorization["']?\s{0,20}[:=]\s{0,20}["']?(?:Basic|Digest|Token)?)\s{0,20}(?!(?:Basic|Digest|Token|Bearer|Negotiate|NTLM)\b)[\w.~+/=-]{6,}/gi,
    replacement: `$1 ${redacted}`,
  },
  { pattern: /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,200}):[^\s/@"']{1,200}@/gi, replacement: `$1:${redacted}@` },
  {
    pattern: new RegExp(String.raw`(?<![\w.:-])(${word}["']? {0,2}(?:=|:) {0,2})${value}`, 'gi'),
    replacement: `$1${redacted}`,
  },
  { pattern: new RegExp(String.raw`((?:^|\s)(?:--?|/)${word}(?:\s+|:))${value}`, 'gi'), replacement: `$1${redacted}` },
  { pattern: /\b(net1?(?:\.exe)?\s+user\s+(?!\/)\S+\s+)(?!\/|\*)\S+/gi, replacement: `$1${redacted}` },
  { pattern: /(\s\/user:\S+\s+)(?!\/)\S+/gi, replacement: `$1${redacted}` },
  {
    pattern: /\b(curl\b[^|;]{0,500}?\s(?:-u|--user)\s+["']?[^\s:"']{1,100}):[^\s"']+/gi,
    replacement: `$1:${redacted}`,
  },
  {
    pattern:
      /\b((?:mysql|mysqldump|sshpass|psexec(?:64)?|schtasks|plink|pscp)\b[^|;]{0,500}?\s(?:-p|-pw|\/rp)\s*)(?!\s)[^\s-]\S*/gi,
    replacement: `$1${redacted}`,
  },
  { pattern: /(ConvertTo-SecureString\s+(?:-String\s+)?)(?:"[^"]*"|'[^']*')/gi, replacement: `$1${redacted}` },
  {
    pattern:
      /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}|sk-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,})/g,
    replacement: redacted,
  },
  { pattern: /\b(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[\w+/=]{20,}/g, replacement: redacted },
  { pattern: /([?&](?:sig|signature)=)[^&\s"']{8,}/gi, replacement: `$1${redacted}` },
];

// Most log values contain none of these. One cheap test skips the rules for them.
const suspicious =
  /-----BEGIN|eyJ|bearer|negotiate|ntlm|hmac|authorization|:\/\/[^/\s]{0,420}@|pass|pwd|secret|token|key|signature|net1?(?:\.exe)?\s+user|\/user:|curl|mysql|psexec|schtasks|plink|pscp|securestring|gh[pousr]_|github_pat|glpat|xox|AIza|sk-|SG\.|FwoGZXIv|IQoJb3|sig=/i;
const maybeAwsSecret = /(?<![\w+/=.-])[A-Za-z0-9+/]{40}(?![\w+/=.-])/g;

/** Redacts secrets in a text: keys, tokens, and passwords in command lines and URLs. Identifiers (access key id, hash, user) stay. */
export function redactText(text: string): string {
  let clean = text;
  if (suspicious.test(text)) for (const rule of rules) clean = clean.replace(rule.pattern, rule.replacement);
  return clean.length < 40 ? clean : clean.replace(maybeAwsSecret, (match) => (looksRandom(match) ? redacted : match));
}

/** Redacts secrets in every string of a JSON value. */
export function redactDeep(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactDeep(inner)]));
}

/**
 * Returns whether a text is an AWS secret key (40 random characters) and not a SHA-1 (40 hexadecimal digits) or a path (words), judging by
 * its entropy.
 */
function looksRandom(text: string): boolean {
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text) || !/\d/.test(text)) return false;
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits > 4.3;
}
