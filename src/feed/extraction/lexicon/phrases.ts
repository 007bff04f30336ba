/*
 * Phrases of the lexicon, in a form without regular expressions:
 *
 *   steal cookies       these words in this order, in any case
 *   steal/harvest       one of several words; (log in/sign in) if one of them has several words, also inside a word: log(ged/ging)
 *   the?                a word that may be absent
 *   cookie~             with an ending of a noun or verb: cookies, steals, stealing
 *   phish*  *angriff    any further letters
 *   e-mail              with a hyphen, a space or neither
 *   <attackers>         any phrase of another cue
 *   <Name>  <Capitals>  a word with a capital, except those that begin sentences; a word of capitals
 *   <values>            the values that a statement is about, in sentences where they are masked
 *   a .. b   a … b      up to three words between them; up to 70 characters of the same sentence
 *   #                   a number
 *   !not used           not right after this word;   used !by   not right before this word
 *   ^how to             only at the beginning of a sentence
 */

type Resolve = (id: string) => readonly string[];

type PhraseOptions = {
  /** Returns the phrases of another cue. */
  resolve?: Resolve;
  /** Whether upper and lower case differ. */
  isExact?: boolean | undefined;
  /** `english` words have plain letters, which makes patterns small. `unspaced` languages write no spaces between words. */
  script?: 'english' | 'unspaced' | undefined;
};

/** The parts of a pattern that depend on the letters of a language. */
type Script = {
  start: string;
  end: string;
  gap: string;
  fewWords: string;
  beginning: string;
  space: string;
  any: string;
};

const createScript = (letter: string, noLetter: string): Script => {
  const [start, end] = [`(?<!${letter})`, `(?!${letter})`];
  return {
    start,
    end,
    gap: `${end}[^!?\\n]{0,70}?${start}`,
    // Each character in one way only: a second one for `_` would double the time with every `_`.
    fewWords: String.raw`(?:(?:${letter}|(?!${letter})[._+’'-])+,? ){0,3}?`,
    beginning: `(?<=^${noLetter}*)`,
    space: ' ',
    any: `${letter}*`,
  };
};
const spaced = createScript(String.raw`[\p{L}\p{N}]`, String.raw`\P{L}`);
const english = createScript(String.raw`\w`, '[^A-Za-z]');
const unspaced: Script = {
  ...spaced,
  start: '',
  end: '',
  gap: String.raw`[^。！？!?\n]{0,30}?`,
  space: '',
};
const scriptOf = ({ script }: PhraseOptions): Script =>
  script === 'english' ? english : script === 'unspaced' ? unspaced : spaced;

const signs: Record<string, string> = {
  '~': String.raw`(?:['’]s|[a-z]?(?:ed|ing)|ings|e?s|e|d|y|ie[sd]|ions?)?`,
  '#': String.raw`\d[\d.,]*`,
  '-': '[- ]?',
  "'": "['’]",
};

/** Compiles phrases to one pattern, which finds the first place of any of them. */
export function compilePhrases(phrases: readonly string[], options: PhraseOptions, flags = ''): RegExp {
  const { start, end } = scriptOf(options);
  const source = `${start}(?:${phrases.map((phrase) => compilePhrase(phrase, options)).join('|')})${end}`;
  const isUnicode = options.script !== 'english' || source.includes('\\p{');
  return new RegExp(source, `${options.isExact ? '' : 'i'}${isUnicode ? 'u' : ''}${flags}`);
}

function compilePhrase(phrase: string, options: PhraseOptions): string {
  const { start, end, gap, fewWords, beginning, space } = scriptOf(options);
  let source = phrase.startsWith('^') ? beginning : '';
  let needsSpace = false;
  for (const element of splitOutside(phrase.replace(/^\^/, ''), ' ')) {
    const isOptional = element.length > 1 && element.endsWith('?');
    const word = isOptional ? element.slice(0, -1) : element;
    if (word === '…') source += gap;
    else if (word === '..') source += `${needsSpace ? ' ' : ''}${fewWords}`;
    else if (word.startsWith('!')) {
      const not = compileWord(word.slice(1), options);
      source += needsSpace ? `(?! (?:${not})${end})` : `(?<!${start}(?:${not}) )`;
      continue;
    } else if (isOptional) {
      const inner = compileWord(word, options);
      source += needsSpace ? `(?: (?:${inner}))?` : `(?:(?:${inner})${space})?`;
      continue;
    } else source += `${needsSpace ? space : ''}${compileWord(word, options)}`;
    needsSpace = word !== '…' && word !== '..';
  }
  return source;
}

function compileWord(word: string, options: PhraseOptions): string {
  const alternatives = splitOutside(word, '/');
  if (alternatives.length > 1) return `(?:${alternatives.map((one) => compileWord(one, options)).join('|')})`;
  const { any } = scriptOf(options);
  let source = '';
  for (let at = 0; at < word.length; at += 1) {
    const sign = word[at]!;
    const isGroup = sign === '(' || (sign === '<' && word.includes('>', at));
    if (!isGroup) {
      source += sign === '*' ? any : (signs[sign] ?? sign.replace(/[.^$+{}[\]\\|()]/, String.raw`\$&`));
      continue;
    }
    const end = sign === '(' ? findClosing(word, at) : word.indexOf('>', at);
    const inner = word.slice(at + 1, end);
    at = end;
    const form = sign === '<' ? formOf(inner) : undefined;
    const phrases = sign === '(' ? splitOutside(inner, '/') : form === undefined ? options.resolve!(inner) : [];
    source += form ?? `(?:${phrases.map((phrase) => compilePhrase(phrase, options)).join('|')})`;
  }
  return source;
}

const capitalized = String.raw`(?-i:(?!(?:The|This|That|These|Those|It|An?|In|On|At|For|With|As|If|When|While|You|Your|Our|Its|Their|There|Each|Some|Most|Many|All|By|From|To|And|But|Or|Not) )[A-Z][\w-]{1,40})`;

/** The word that stands for values in a masked sentence. */
export const valuesWord = 'VALUES';

const forms: Record<string, string> = {
  Name: capitalized,
  Capitals: '(?-i:[A-Z]{3,14})',
  values: `(?-i:${valuesWord})`,
};

/** Returns the pattern of a form of words: `Name`, `Capitals`, `values`. */
const formOf = (id: string): string | undefined => (Object.hasOwn(forms, id) ? forms[id] : undefined);

function findClosing(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')' && (depth -= 1) === 0) return at;
  }
  throw new Error(`The phrase "${text}" has a parenthesis without its end.`);
}

/** Splits a phrase at a separator outside of parentheses and references. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(' || text[at] === '<') depth += 1;
    else if (text[at] === ')' || text[at] === '>') depth -= 1;
    else if (text[at] === separator && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)].filter((part) => part !== '' || separator === '/');
}

const anchorMin = 3;
const anchorMax = 4;

/**
 * Returns beginnings of words, in lower case and of three or four letters, of which one must occur in a sentence with the phrase. Undefined if
 * the phrase has no word that must occur.
 */
export function listAnchors(phrase: string, resolve: Resolve): string[] | undefined {
  const choices = splitOutside(phrase, ' ')
    .filter((element) => !/^[!….]|\?$/.test(element))
    .map((element) => listBeginnings(element, resolve))
    .filter((beginnings) => beginnings.every((one) => one.length >= anchorMin));
  const [fewest] = choices.toSorted((a, b) => a.length - b.length);
  return fewest && [...new Set(fewest.map((one) => one.slice(0, anchorMax)))];
}

function listBeginnings(element: string, resolve: Resolve): string[] {
  return splitOutside(element, '/').flatMap((word) => {
    const literal = /^[\p{L}\p{N}]*/u.exec(word)![0].toLowerCase();
    const next = word[literal.length];
    if (literal.length < anchorMin && next === '-') return listBeginnings(word.slice(literal.length + 1), resolve);
    if (literal.length >= anchorMin || (next !== '(' && next !== '<')) return [literal];
    const inner = word.slice(literal.length + 1, next === '(' ? findClosing(word, literal.length) : word.indexOf('>'));
    const phrases = next === '(' ? splitOutside(inner, '/') : resolve(inner);
    return phrases.flatMap((phrase) => {
      const first = splitOutside(phrase, ' ').find((one) => !one.startsWith('!'));
      if (first === undefined || first.endsWith('?')) return [''];
      return listBeginnings(first, resolve).map((beginning) => literal + beginning);
    });
  });
}
