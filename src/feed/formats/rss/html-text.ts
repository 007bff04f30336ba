import { Parser } from 'htmlparser2';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const blocks = new Set(
  `address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li main
  nav ol p pre section summary table tbody tfoot thead tr ul`.split(/\s+/),
);
const spaced = new Set('h1 h2 h3 h4 h5 h6 p pre table ul ol blockquote'.split(' '));
const silent = new Set(
  'script style noscript template svg math head iframe object select button canvas audio video'.split(' '),
);

// The time of the parser is quadratic in the depth. Parsing stops where a page nests deeper.
const depthMax = 1_000;
const tooDeep = new ExternalError('nested too deep');

/**
 * Converts HTML to plain text. Blocks become lines, headings start with `#`, list items with a dash, and cells are separated by `|`. Link
 * addresses and invisible elements are omitted. Takes linear time.
 */
export function htmlToText(html: string): string {
  const lines = createLines();
  let silence = 0;
  let depth = 0;
  const parser = new Parser(
    {
      onopentagname(name) {
        depth += 1;
        if (depth > depthMax) throw tooDeep;
        if (silent.has(name)) silence += 1;
        if (silence === 0) lines.open(name);
      },
      ontext(data) {
        if (silence === 0) lines.add(data);
      },
      onclosetag(name) {
        depth -= 1;
        if (silent.has(name)) silence = Math.max(0, silence - 1);
        else if (silence === 0) lines.close(name);
      },
    },
    { decodeEntities: true },
  );
  try {
    parser.end(html);
  } catch (error) {
    if (error !== tooDeep) throw error;
  }
  return lines.finish();
}

type Lines = {
  open: (name: string) => void;
  add: (text: string) => void;
  close: (name: string) => void;
  /** Returns the text. */
  finish: () => string;
};

/** Collects the lines of visible elements and their text. */
function createLines(): Lines {
  const lines: string[] = [];
  let line = '';
  // Whether the current list item or cell is still empty. A paragraph in it then starts no new line.
  let isOpening = false;
  let preformatted = 0;
  const end = (): void => {
    const text = preformatted > 0 ? line.trimEnd() : line.replaceAll(/[\s\u00A0]+/g, ' ').trim();
    if (!/^[|\s-]*$/.test(text)) lines.push(text);
    line = '';
    isOpening = false;
  };
  const begin = (mark: string): void => {
    line += mark;
    isOpening = true;
  };
  const breakAt = (name: string): void => {
    if (isOpening || !blocks.has(name)) return;
    end();
    if (spaced.has(name) && lines.length > 0 && lines.at(-1) !== '') lines.push('');
  };
  return {
    open(name) {
      if (name === 'br') end();
      else if (name === 'li') {
        end();
        begin('- ');
      } else if (name === 'td' || name === 'th') begin(line === '' ? '| ' : ' | ');
      else breakAt(name);
      if (/^h[1-6]$/.test(name)) begin(`${'#'.repeat(Number(name[1]))} `);
      if (name === 'pre') preformatted += 1;
    },
    add(text) {
      if (/\S/.test(text)) isOpening = false;
      for (const [index, part] of (preformatted > 0 ? text.split(/\r?\n/) : [text]).entries()) {
        if (index > 0) end();
        line += part;
      }
    },
    close(name) {
      breakAt(name);
      if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
    },
    finish() {
      end();
      return lines.join('\n').trim();
    },
  };
}

/** Converts HTML to one line of text without block markers. */
export const htmlToLine = (html: string): string =>
  htmlToText(html)
    .replaceAll(/^(?:#{1,6}|-|\|) /gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
