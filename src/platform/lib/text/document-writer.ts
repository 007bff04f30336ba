import { showLine } from './show-text.ts';

/** How a format writes texts, which may come from an attacker. Only `escape` and the second argument of `link` take raw text. */
export type DocumentWriter = {
  escape: (text: string) => string;
  title: (text: string) => string;
  heading: (text: string) => string;
  paragraph: (text: string) => string;
  list: (items: string[]) => string;
  table: (rows: string[][]) => string;
  link: (text: string, address: string) => string;
  /** The mark of a footnote in a sentence, and the footnote. */
  mark: (n: number) => string;
  note: (n: number, text: string) => string;
};

export const markdownWriter: DocumentWriter = {
  // Characters with a meaning in GitHub's Markdown or in HTML within it, those with one at the start of a line, and those that make a link.
  escape: (text) =>
    showLine(text).replaceAll(/[\\`*_[\]<>|~&]|^[-+=#]|(?<=^\d+)[.)]|:(?=\/\/)|(?<=www)\./gi, (mark) => `\\${mark}`),
  title: (text) => `# ${text}\n`,
  heading: (text) => `## ${text}\n`,
  paragraph: (text) => `${text}\n`,
  list: (items) => `${items.map((item) => `- ${item}`).join('\n')}\n`,
  table: ([head = [], ...rows]) =>
    `${[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`,
  link: (text, address) => `[${text}](${encodeURI(address).replaceAll(/[()]/g, encodeURIComponent)})`,
  mark: (n) => `[^${n}]`,
  note: (n, text) => `[^${n}]: ${text}`,
};

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string): string => showLine(text).replaceAll(/[&<>"']/g, (mark) => entities[mark]!);

export const htmlWriter: DocumentWriter = {
  escape: escapeHtml,
  title: (text) => `<h1>${text}</h1>`,
  heading: (text) => `<h2>${text}</h2>`,
  paragraph: (text) => `<p>${text}</p>`,
  list: (items) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`,
  table: ([head = [], ...rows]) =>
    `<table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</tbody></table>`,
  link: (text, address) => `<a href="${escapeHtml(address)}">${text}</a>`,
  mark: (n) => `<sup><a href="#note-${n}">${n}</a></sup>`,
  note: (n, text) => `<p id="note-${n}"><sup>${n}</sup> ${text}</p>`,
};

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ccc;overflow-wrap:anywhere}th{overflow-wrap:normal}p,li{overflow-wrap:anywhere}@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th,td{border-color:#444}a{color:#8ab4f8}}@media print{body{margin:0;max-width:none}}';

/** Returns an HTML page that loads nothing. `title` is raw text, and `parts` are written by `htmlWriter`. */
export const toHtmlPage = (title: string, parts: string[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>${parts.join('\n')}</body></html>\n`;
