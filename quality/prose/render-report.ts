/**
 * Renders a plain or Markdown text as the HTML of a feed: tables, lists, code blocks, headings and paragraphs. Long values are broken
 * (`<wbr>`, soft hyphens, zero-width spaces) and some dots are entities, as publishing systems write them.
 */
export function renderReport(text: string): string {
  return splitBlocks(text.split('\n')).map(renderBlock).join('\n');
}

type BlockKind = 'code' | 'heading' | 'list' | 'table' | 'paragraph';
type Block = { kind: BlockKind; lines: string[] };

const fence = /^(?:```|-{4}$)/;

/** Groups lines into blocks. Lists, tables and code blocks have several lines. */
function splitBlocks(lines: string[]): Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  for (const line of lines) {
    if (fence.test(line)) {
      isCode = !isCode;
      if (isCode) blocks.push({ kind: 'code', lines: [] });
      continue;
    }
    const { kind, content } = isCode ? { kind: 'code' as const, content: line } : readLine(line);
    if (content === '' && kind !== 'code') continue;
    const last = blocks.at(-1);
    if (last?.kind === kind && (kind === 'code' || kind === 'list' || kind === 'table')) last.lines.push(content);
    else blocks.push({ kind, lines: [content] });
  }
  return blocks;
}

/** The marks of a heading, one for each level. */
const marks = /^(?:#{1,6}|={1,6}) /;

function readLine(line: string): { kind: BlockKind; content: string } {
  if (marks.test(line)) return { kind: 'heading', content: line };
  const item = /^\s*[-*•] (.*)/.exec(line)?.[1];
  if (item !== undefined) return { kind: 'list', content: item };
  const row = /^\s*\|(.*)$/.exec(line)?.[1];
  if (row === undefined) return { kind: 'paragraph', content: line.trim() };
  return { kind: 'table', content: /^[\s|:=-]*$/.test(row) ? '' : row.replace(/\|\s*$/, '') };
}

function renderBlock({ kind, lines }: Block): string {
  const parts = lines.map(typeset);
  switch (kind) {
    case 'code':
      return `<pre><code>${parts.join('\n')}</code></pre>`;
    case 'heading':
      return renderHeading(lines.join(''));
    case 'list':
      return `<ul>${parts.map((item) => `<li>${item}</li>`).join('')}</ul>`;
    case 'table':
      return `<table><tbody>${parts.map(renderRow).join('')}</tbody></table>`;
    case 'paragraph':
      return `<p>${parts.join('')}</p>`;
  }
}

function renderHeading(line: string): string {
  const level = marks.exec(line)![0].length - 1;
  return `<h${level}>${typeset(line.slice(level + 1))}</h${level}>`;
}

const renderRow = (row: string): string =>
  `<tr>${row
    .split('|')
    .map((cell) => `<td>${cell.trim()}</td>`)
    .join('')}</tr>`;

const breaks = ['<wbr>', '&shy;', '&#8203;'];

/** Escapes a text, breaks values of 24 and more characters every 16 characters, and writes the dots of every second part as entities. */
function typeset(text: string): string {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  let values = 0;
  return html.replaceAll(/[\w.[\]:/?=%-]{24,}/g, (value) => {
    const mark = breaks[(values += 1) % breaks.length]!;
    const parts = value.match(/.{1,16}/g)!.map((part, at) => (at % 2 === 0 ? part : part.replaceAll('.', '&#46;')));
    return parts.join(mark);
  });
}
