/** The languages of the rules that reports print. A network rule that Snort and Suricata both read counts as `snort`. */
export const ruleTypes = ['yara', 'sigma', 'snort', 'suricata'] as const;
export type RuleType = (typeof ruleTypes)[number];

/** A rule in the text of a report. The span is in UTF-16 units of the text, end exclusive. */
export type ReportRule = { type: RuleType; name: string; text: string; charSpan: { start: number; end: number } };

const rulesMax = 100;
const ruleMaxChars = 65_536;
const nameMaxChars = 200;

/** Words that each rule of a language has. */
const mayHaveRules = /\bcondition\s{0,9}:|\bsid\s{0,9}:|^\s{0,40}(?:detection|correlation):/m;

/** Finds the detection rules that stand in a text, in its order: at most 100, each of at most 65,536 characters. Takes linear time. */
export function findRules(text: string): ReportRule[] {
  if (!mayHaveRules.test(text)) return [];
  const found = [...findYaraRules(text), ...findNetworkRules(text), ...findSigmaRules(text)]
    .filter(({ text: rule }) => rule.length <= ruleMaxChars)
    .toSorted((a, b) => a.charSpan.start - b.charSpan.start);
  let end = 0;
  const apart = found.filter(({ charSpan }) => {
    if (charSpan.start < end) return false;
    end = charSpan.end;
    return true;
  });
  return apart.slice(0, rulesMax);
}

function toRule(text: string, type: RuleType, name: string, charSpan: ReportRule['charSpan']): ReportRule {
  return { type, name: name.slice(0, nameMaxChars), text: text.slice(charSpan.start, charSpan.end), charSpan };
}

const yaraHead =
  /^[ \t]{0,40}((?:import[ \t]{1,9}"\w{1,40}"\s{1,40}){0,20}(?:(?:private|global)[ \t]{1,9}){0,2}rule[ \t]{1,9}([A-Za-z_]\w{0,127})[ \t]{0,9}(?::[ \t]{0,9}\w{1,128}(?:[ \t]{1,9}\w{1,128}){0,20})?\s{0,40}\{)/gm;

/** Finds YARA rules: a header, and what follows up to the brace that closes it, with a condition. */
function findYaraRules(text: string): ReportRule[] {
  return findHeads(text, yaraHead).flatMap(({ head, start, code }) => {
    const length = findClosing(code, head[1]!.length - 1, { open: '{', close: '}', isYara: true });
    if (length === undefined || !/\bcondition\s{0,9}:/.test(code.slice(0, length))) return [];
    return [toRule(text, 'yara', head[2]!, { start, end: start + length })];
  });
}

const networkHead =
  /^[ \t>|*-]{0,40}((?:alert|block|drop|log|pass|reject|rejectboth|rejectdst|rejectsrc|sdrop)[ \t]{1,9}([a-z][\w-]{1,20})(?![\w-])([^\n()]{0,1000})\()/gm;

/** Finds rules of Snort and Suricata: an action, a protocol and addresses, and options in parentheses with a `sid`. */
function findNetworkRules(text: string): ReportRule[] {
  return findHeads(text, networkHead).flatMap(({ head, start, code }) => {
    const [, opening = '', protocol = '', addresses = ''] = head;
    const length = findClosing(code, opening.length - 1, { open: '(', close: ')', isYara: false });
    const options = code.slice(opening.length, length);
    const sid = /\bsid\s{0,9}:\s{0,9}(\d{1,12})/.exec(options)?.[1];
    if (length === undefined || sid === undefined) return [];
    // Snort has no addresses before the options of application protocols, and no keywords with a dot.
    const isApplication = !/^(?:tcp|udp|icmp|ip)$/.test(protocol) && /->|<>/.test(addresses);
    const type = isApplication || /;\s{0,9}[a-z][a-z\d_]{1,40}\.[a-z]/.test(options) ? 'suricata' : 'snort';
    const message = /\bmsg\s{0,9}:\s{0,9}"([^"\n]{1,1000})"/.exec(options)?.[1];
    return [toRule(text, type, message ?? `sid ${sid}`, { start, end: start + length })];
  });
}

type Head = { head: RegExpExecArray; start: number; code: string };

/** Returns the matches of a pattern, whose first group begins the rule. `code` ends where the next one begins, so that each character is read once. */
function findHeads(text: string, pattern: RegExp): Head[] {
  const heads = [...text.matchAll(pattern)];
  return heads.map((head, index) => {
    const start = head.index + head[0].length - head[1]!.length;
    return { head, start, code: text.slice(start, heads[index + 1]?.index) };
  });
}

type Brackets = { open: string; close: string; isYara: boolean };

/** Returns the end of what a bracket at `from` opens, or undefined. Brackets in strings, comments and regular expressions do not count. */
function findClosing(code: string, from: number, { open, close, isYara }: Brackets): number | undefined {
  let depth = 0;
  for (let at = from; at < code.length && at < ruleMaxChars; at += 1) {
    const char = code[at];
    if (char === '"') at = skipQuoted(code, at, '"');
    else if (char === '/' && isYara) at = skipSlash(code, at);
    else if (char === open) depth += 1;
    else if (char === close) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Returns the position of the quotation mark that ends a string, or the length of the code if there is none. */
function skipQuoted(code: string, from: number, quote: string): number {
  for (let at = from + 1; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === quote) return at;
  }
  return code.length;
}

/** Returns the position at which a comment or a regular expression ends, or that of the slash itself. */
function skipSlash(code: string, at: number): number {
  const endOf = (mark: string): number => {
    const end = code.indexOf(mark, at + 2);
    return end < 0 ? code.length : end + mark.length - 1;
  };
  if (code[at + 1] === '*') return endOf('*/');
  if (code[at + 1] === '/') return endOf('\n');
  const isRegex = /(?:[=(]|\bmatches)$/.test(code.slice(Math.max(0, at - 40), at).trimEnd());
  return isRegex ? skipQuoted(code, at, '/') : at;
}

const sigmaKey = /^([a-z][\w-]{0,40}):(?:[ \t]|$)/;

/** The lines of a possible rule. `indentation` is that of its keys. */
type SigmaBlock = { start: number; end: number; indentation: number; keys: Map<string, string> };

/** Finds Sigma rules: lines of YAML from a `title` or `id` on, with a log source and a detection, or with a correlation. */
function findSigmaRules(text: string): ReportRule[] {
  const rules: ReportRule[] = [];
  let block: SigmaBlock | undefined;
  const close = (): void => {
    if (block && isSigma(block.keys)) {
      const title = block.keys.get('title')!.replace(/^(["'])(.*)\1$/, '$2');
      rules.push(toRule(text, 'sigma', title, { start: block.start, end: block.end }));
    }
    block = undefined;
  };
  let start = 0;
  for (const line of text.split('\n')) {
    const content = line.trim();
    const indentation = line.length - line.trimStart().length;
    const key = sigmaKey.exec(content)?.[1];
    const isNested = block !== undefined && indentation > block.indentation;
    const isKey = key !== undefined && !isNested;
    if (isKey && block && (indentation < block.indentation || block.keys.has(key))) close();
    if (isKey && !block && (key === 'title' || key === 'id'))
      block = { start, end: start, indentation, keys: new Map() };
    if (block && content !== '') {
      if (isKey) block.keys.set(key, content.slice(key.length + 1).trim());
      else if (!isNested && !(indentation === block.indentation && /^(?:- |#)/.test(content))) close();
      if (block) block.end = start + line.trimEnd().length;
    }
    start += line.length + 1;
  }
  close();
  return rules;
}

const isSigma = (keys: ReadonlyMap<string, string>): boolean =>
  Boolean(keys.get('title')) && ((keys.has('logsource') && keys.has('detection')) || keys.has('correlation'));
