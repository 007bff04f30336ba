import { containsWhole, normalizeText, type KnownText } from './known-text.ts';

// Names of products, techniques, months and days that are no claim about the rows.
const generalNames = new Set(
  `windows microsoft azure aws amazon google workspace okta entra linux macos apple unix active directory kerberos ntlm powershell
  python java javascript bash docker kubernetes github gitlab slack teams office outlook exchange sharepoint onedrive chrome firefox
  safari edge internet explorer defender sentinel splunk elastic sysmon cloudtrail cloudwatch lambda systems manager secrets guardduty
  iam mfa vpn api dns http https tls ssh rdp smb wmi com lsass sam ntds sql mitre att ck attack tocsin soc siem edr cisa cve kev
  january february march april may june july august september october november december monday tuesday wednesday thursday friday
  saturday sunday english i ok utc gmt id ip url json xml csv pdf zip exe dll usb cpu gpu ram vm ec2 s3 rds kms sts sso saml oauth oidc
  initial access execution persistence privilege escalation defense evasion stealth impairment credential discovery lateral movement collection command
  control exfiltration impact reconnaissance resource development administrator administrators guest guests everyone users public`.split(
    /\s+/,
  ),
);
const accused =
  'culprit|attacker|perpetrator|insider|intruder|criminal|thief|hacker|spy|traitor|suspect|offender|threat actor';
/** Verbs that lead to measures against a person or an account. */
const measures =
  'blame|accuse|arrest|dismiss|fire|suspend|interview|question|contact|disable|lock|block|deactivate|revoke|terminate|sue|report';
const accusations: readonly RegExp[] = [
  new RegExp(
    `\\b(?:${accused}|responsible|to blame)(?: \\w+){0,2}? (?:is|was|are|were|named|called|:)\\s*:?\\s*(?:likely |probably |clearly )?([\\p{L}][\\p{L}\\p{N}._@\\\\-]*)`,
    'giu',
  ),
  new RegExp(
    `(?:^|\\s)([\\p{L}][\\p{L}\\p{N}._@\\\\-]*) (?:is|was|are) (?:likely |probably |clearly )?(?:an? |the |our )?(?:\\w+ )?(?:${accused}|responsible|to blame|guilty|behind)\\b`,
    'giu',
  ),
  /(?:^|\s)([\p{L}][\p{L}\p{N}._@\\-]*) (?:did (?:it|this|that)|stole|leaked|exfiltrated|sabotaged|hacked|attacked|planted|compromised)\b/giu,
  new RegExp(`\\b(?:${measures}) ([\\p{Lu}][\\p{L}\\p{N}._@\\\\-]*)`, 'gu'),
];
/** Also those in which a name without capitals could be another word, which therefore count only for names of outsiders' texts. */
const possibleAccusations: readonly RegExp[] = [
  ...accusations,
  new RegExp(
    `\\b(?:${measures})(?: the| this| that)?(?: user| account| employee| colleague| person| mr\\.?| ms\\.?| mrs\\.?)? ([\\p{L}][\\p{L}\\p{N}._@\\\\-]*)(?: ([\\p{L}][\\p{L}\\p{N}._@\\\\-]*))?`,
    'giu',
  ),
  new RegExp(
    `\\b(?:${accused})\\s*(?:[:=–—-]+\\s*|(?:is|was|named|called)\\s+)([\\p{L}][\\p{L}\\p{N}._@\\\\-]*)(?: ([\\p{L}][\\p{L}\\p{N}._@\\\\-]*))?`,
    'giu',
  ),
  /\b(?:user|username|account|principal|employee|colleague) (?!(?:was|is|has|had|that|who|which|and|or|in|on|from|with|to|of|for|at|by|did|used|names?|accounts?|agents?|activity|access|log[io]n|session)\b)["'`“]?([\p{L}][\p{L}\p{N}._@\\-]*)/giu,
];
/** Words of a sentence that accuses somebody or proposes a measure, in the languages of models' answers. */
const accusing = new RegExp(
  `\\b(?:${accused}|${measures}|responsib\\w+|to blame|guilty|behind (?:it|this|the)|did (?:it|this|that)|stole\\w*|leaked|exfiltrated|sabotaged|hacked|compromised)\\b|täter|schuldig|verantwortlich|steckt|coupable|responsable|culpable|culpado|culpada|colpevole|responsabile|respons[áa]vel|виновн|виноват|преступник|dader|schuldige|skyldig|gärningsman|winny|winien|sprawc|viník|suçlu|犯人|肇事|責任|责任|범인|الفاعل`,
  'iu',
);
const accountLike = /@|^[\p{L}\p{N}-]+\\[\p{L}\p{N}._-]+$|^\p{L}+(?:[._-]\p{L}+)+\d*$/u;
const fileName =
  /\.(?:exe|dll|sys|ps1|psm1|bat|cmd|vbs|js|py|sh|jar|zip|rar|7z|iso|docm?x?|xlsm?x?|pdf|lnk|hta|msi|txt|log|php|aspx?|jsp|com)$/iu;
const plainSubject =
  /^(?:it|this|that|he|she|they|who|which|someone|somebody|nobody|one|user|users|entity|account|host|attacker|attackers|intruder|adversary|actor|activity|action|event|command|process|behaviou?r|identity|role|caller|person|owner|address|also|was|were|been|is|are|has|had|have|then|likely|probably|possibly|an?|the|not|still|there|unknown|unclear|for|to|and|or|by|whoever|anyone|what|login|logon|script|program|malware|insider)$/iu;

/**
 * Returns the names in a sentence that the rows, facts and detection do not contain: capitalized words within the sentence, two of
 * them at its start ("John Smith"), and whoever is accused of something.
 */
export function findUnknownNames(sentence: string, known: KnownText): string[] {
  const isKnown = (name: string): boolean => {
    const claim = normalizeText(name).replace(/(?:'s|[._-]+)$/, '');
    return claim === '' || generalNames.has(claim) || containsWhole(known, claim);
  };
  const capitalized = listCapitalized(sentence).filter((name) => !isKnown(name));
  const subjects = accusations
    .flatMap((pattern) => [...sentence.matchAll(pattern)].map(([, name]) => name!))
    .filter((name) => !plainSubject.test(name) && !isKnown(name));
  return [...new Set([...capitalized, ...subjects])];
}

/** Returns whether a sentence accuses somebody or proposes a measure. */
export const isAccusing = (sentence: string): boolean => accusing.test(sentence);

/**
 * Returns the names in a sentence that only texts of outsiders contain: `known` contains them, `named` does not. Those are capitalized words,
 * and, in a sentence with an accusation, also the accounts in it and the name of the accused.
 */
export function findOutsideNames(sentence: string, known: KnownText, named: KnownText): string[] {
  const isOutside = (name: string): boolean => {
    const claim = normalizeText(name).replace(/(?:'s|[^\p{L}\p{N}]+)$/u, '');
    return (
      claim.length > 1 &&
      !generalNames.has(claim) &&
      !plainSubject.test(claim) &&
      !fileName.test(claim) &&
      !known.text.includes(`://${claim}`) &&
      containsWhole(known, claim) &&
      !containsWhole(named, claim)
    );
  };
  const names = listCapitalized(sentence);
  if (isAccusing(sentence)) {
    const words = sentence.split(/[\s"“”«»`<>|,;:()'’]+/u);
    const accounts = words.map((word) => word.replace(/[.!?]+$/, '')).filter((word) => accountLike.test(word));
    const accusedNames = possibleAccusations.flatMap((pattern) =>
      [...sentence.matchAll(pattern)].flatMap((match) => match.slice(1).filter((name) => name !== undefined)),
    );
    names.push(...accounts, ...accusedNames);
  }
  return [...new Set(names.filter(isOutside))];
}

/** Returns capitalized words, except a single one that begins a sentence or follows a colon or an opening quotation mark. */
function listCapitalized(sentence: string): string[] {
  const words = [...sentence.matchAll(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)];
  const isName = ([word]: RegExpExecArray | RegExpMatchArray): boolean =>
    /^\p{Lu}\p{Ll}{2,}(?:['’-]\p{L}+)*$/u.test(word!);
  return words.flatMap((match, at) => {
    if (!isName(match)) return [];
    const before = sentence.slice(Math.max(0, match.index - 2), match.index);
    const startsSentence = at === 0 || /[:“"(.!?\n]\s?$/.test(before);
    if (!startsSentence) return [match[0]];
    const next = words[at + 1];
    const isFullName = next !== undefined && isName(next) && next.index === match.index + match[0].length + 1;
    return isFullName ? [match[0]] : [];
  });
}
