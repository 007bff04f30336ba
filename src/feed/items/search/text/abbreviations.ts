/** Abbreviations of the field with their long forms. Reports print either. */
const longForms: Record<string, string> = {
  '0-day': 'zero day',
  '0day': 'zero day',
  aitm: 'adversary in the middle',
  bec: 'business email compromise',
  byovd: 'bring your own vulnerable driver',
  c2: 'command and control',
  csrf: 'cross site request forgery',
  ddos: 'distributed denial of service',
  dos: 'denial of service',
  edr: 'endpoint detection and response',
  eop: 'elevation of privilege',
  iab: 'initial access broker',
  ics: 'industrial control systems',
  idor: 'insecure direct object reference',
  lpe: 'local privilege escalation',
  maas: 'malware as a service',
  mfa: 'multi factor authentication',
  mitm: 'man in the middle',
  poc: 'proof of concept',
  raas: 'ransomware as a service',
  rat: 'remote access trojan',
  rce: 'remote code execution',
  rdp: 'remote desktop protocol',
  sqli: 'sql injection',
  ssrf: 'server side request forgery',
  uaf: 'use after free',
  xss: 'cross site scripting',
  xxe: 'xml external entity',
};

const shortForms = new Map(Object.entries(longForms).map(([short, long]) => [long, short]));
/** Longer forms come first: `distributed denial of service` before `denial of service`. */
const forms = [...Object.keys(longForms), ...shortForms.keys()].toSorted((a, b) => b.length - a.length);
const anyForm = new RegExp(
  String.raw`(?<![\w"-])(?:${forms.map((form) => form.replaceAll(' ', '[ -]')).join('|')})(?![\w"-])`,
  'gi',
);
/** Each doubles the alternatives of a search, of which there are few. */
const expandedMax = 3;

/**
 * Adds the other form to abbreviations of the field and to their long forms: `rce` becomes `(rce or remote code execution)`. Searches with
 * quotation marks or parentheses remain as they are.
 */
export function addAbbreviations(text: string): string {
  if (/["()]/.test(text)) return text;
  let expanded = 0;
  return text.replaceAll(anyForm, (printed) => {
    const form = printed.toLowerCase();
    const other = longForms[form] ?? shortForms.get(form.replaceAll('-', ' '));
    expanded += 1;
    return other === undefined || expanded > expandedMax ? printed : `(${printed} or ${other})`;
  });
}
